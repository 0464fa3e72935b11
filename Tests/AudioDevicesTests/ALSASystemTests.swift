// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Foundation
import TestSupport
import TestTraits
import Testing

@testable import EarshotAudioDevices

/// Without hardware: the devices are PCMs of ALSA's configuration, through PipeWire's plug-in.
@Suite("ALSASystem", .serialized, .realTime, .needs("pipewire")) struct ALSASystemTests {
    private func system(_ extraNames: [String] = []) -> ALSASystem {
        ALSASystem(extraNames: extraNames, watcher: ALSAWatcher(tickInterval: 0.1))
    }

    @Test("PCMs that open are listed, with what they can do; the first is the default")
    func list() throws {
        try ALSARig.running { _ in
            let system = system(["cd", "nonsense", "quad"])
            let devices = system.devices.filter { !$0.id.hasPrefix("hw:") }
            #expect(devices.map(\.id) == ["default", "cd", "quad"])
            #expect(devices.map(\.inputChannelCount) == [2, 2, 4] && devices.map(\.outputChannelCount) == [2, 2, 4])
            #expect(devices.map(\.sampleRate) == [48_000, 44_100, 48_000])
            #expect(devices[1].sampleRates == [44_100] && devices[0].sampleRates.contains(96_000))
            #expect(devices.allSatisfy { $0.blockFrameCounts.contains(64) && $0.blockFrameCounts.contains(4_096) })
            #expect(devices.map(\.isDefaultInput) == [true, false, false])
            #expect(devices.map(\.isDefaultOutput) == [true, false, false])
            #expect(devices.allSatisfy { $0.backend == .alsa && $0.transport == .virtual })
            #expect(system.failure == nil && system.backend == .alsa)
        }
    }

    @Test("without a card or server nothing is there, and that is said", .enabled(if: ALSACard.all().isEmpty))
    func nothing() throws {
        try ALSARig.withConfiguration {
            setenv("PIPEWIRE_REMOTE", "/tmp/earshot-no-such-server", 1)
            defer { unsetenv("PIPEWIRE_REMOTE") }
            let system = system()
            #expect(system.devices.isEmpty)
            guard case .noServer(.alsa, _, _) = system.failure else {
                Issue.record("\(String(describing: system.failure))")
                return
            }
            #expect(throws: AudioDeviceError.noDefaultDevice(.input)) { try system.open(AudioDeviceRequest()) }
        }
    }

    @Test("the list empties when the server ends and fills when it is back; a device that was there is then gone")
    func serverRestarts() throws {
        try ALSARig.running { server in
            let system = system(["s16"])
            let before = system.devices
            #expect(before.count >= 2)
            server.stop()
            #expect(throws: AudioDeviceError.self) { try system.open(AudioDeviceRequest()) }
            #expect(eventually { !system.devices.contains { $0.id == "default" || $0.id == "s16" } })
            try server.start()
            #expect(eventually { system.devices == before })
        }
    }

    @Test("the defaults are opened with what was asked, and run")
    func open() throws {
        try ALSARig.running { _ in
            let system = system()
            var request = AudioDeviceRequest()
            request.sampleRate = 48_000
            let monitor = CallbackMonitor(sampleRate: 48_000)
            request.monitor = monitor
            let device = try system.open(request)
            #expect(device.blockFrameCount == 240 && device.sampleRate == 48_000)
            #expect(device.inputChannelCount == 1 && device.outputChannelCount == 2)
            #expect(device.name == "default" && device.sampleType == .float32 && device.monitor === monitor)
            let probe = CycleProbe()
            try device.start(probe.callback)
            #expect(eventually { probe.count >= 20 })
            #expect(device.realTimePriority == grantedPriority(70))
            device.stop()
        }
    }

    @Test("one side, by its id, and not by one that the other needs")
    func sides() throws {
        try ALSARig.running { _ in
            let system = system(["s16", "s32"])
            var request = AudioDeviceRequest()
            request.input = .none
            request.output = .device(id: "s16")
            let speaker = try system.open(request)
            #expect(speaker.inputChannelCount == 0 && speaker.outputChannelCount == 2 && speaker.sampleType == .int16)
            request.input = .device(id: "s32")
            request.output = .none
            let microphone = try system.open(request)
            #expect(microphone.inputChannelCount == 1 && microphone.outputChannelCount == 0)
            #expect(microphone.sampleType == .int32)
            request.input = .none
            #expect {
                try system.open(request)
            } throws: {
                guard case AudioDeviceError.unsupportedFormat = $0 else { return false }
                return true
            }
        }
    }

    @Test("an input and an output of two cards run as one device")
    func twoCards() throws {
        try ALSARig.running(isLooped: true) { _ in
            let system = system(["s16", "s32"])
            var request = AudioDeviceRequest()
            (request.input, request.output) = (.device(id: "s16"), .device(id: "s32"))
            request.inputChannelCount = 2
            let device = try system.open(request)
            #expect(device.inputChannelCount == 2 && device.outputChannelCount == 2)
            let probe = ToneProbe(amplitude: 0.5, inputCount: 2)
            try device.start(probe.callback)
            #expect(
                eventually {
                    (0..<2).allSatisfy { abs(probe.tone($0, heardBy: $0).amplitude - 0.5) < 0.05 }
                }, "\(probe.tone(0, heardBy: 0))")
            device.stop()
            #expect(device.failure == nil)
        }
    }

    @Test("of two cards, an input with another rate is resampled")
    func twoRates() throws {
        try ALSARig.running { _ in
            let system = system(["cd", "s32"])
            var request = AudioDeviceRequest()
            (request.input, request.output) = (.device(id: "cd"), .device(id: "s32"))
            request.sampleRate = 48_000
            let device = try system.open(request)
            #expect(device.sampleRate == 48_000)
            let probe = CycleProbe()
            try device.start(probe.callback)
            #expect(eventually { probe.count >= 20 })
            device.stop()
            #expect(device.failure == nil)
        }
    }

    @Test("a card that has nothing but xruns is gone only where the kernel says so")
    func starved() {
        func cause(_ code: CInt, isCard: Bool, isDisconnected: Bool) -> AudioDeviceError {
            let code = ALSALoop.cause(of: -Int(code), isCard: isCard, isDisconnected: isDisconnected)
            return .alsa(CInt(code), call: "snd_pcm_avail", device: "hw:0")
        }
        #expect(cause(EPIPE, isCard: true, isDisconnected: false) == .stalled(device: "hw:0", seconds: 1))
        #expect(cause(EPIPE, isCard: true, isDisconnected: true) == .deviceGone(name: "hw:0"))
        #expect(cause(ENODEV, isCard: true, isDisconnected: false) == .deviceGone(name: "hw:0"))
        guard case .serverGone = cause(EPIPE, isCard: false, isDisconnected: false) else {
            Issue.record("a plug-in's server")
            return
        }
    }

    @Test("an unknown device is refused with names that come close")
    func unknown() throws {
        try ALSARig.running { _ in
            let system = system(["quad"])
            var request = AudioDeviceRequest()
            request.output = .device(id: "quab")
            request.input = .none
            #expect(throws: AudioDeviceError.noDevice(name: "quab", near: ["quad"])) { try system.open(request) }
        }
    }

    @Test("a PCM without the direction is refused")
    func missingDirection() throws {
        try ALSARig.withConfiguration("pcm.deaf { type asym playback.pcm { type null } }") {
            let system = system(["deaf"])
            guard let device = system.devices.first(where: { $0.id == "deaf" }) else {
                Issue.record("not listed")
                return
            }
            #expect(device.inputChannelCount == 0 && device.outputChannelCount > 0)
            var request = AudioDeviceRequest()
            (request.input, request.output) = (.device(id: "deaf"), .device(id: "deaf"))
            #expect {
                try system.open(request)
            } throws: {
                guard case AudioDeviceError.unsupportedFormat(let detail) = $0 else { return false }
                return detail.contains("no input")
            }
        }
    }

    @Test(
        "two PCMs share a clock where they are one or of one card",
        arguments: [
            ("default", "default", true), ("default", "pipewire", false),
            ("hw:CARD=PCH,DEV=0", "hw:CARD=PCH,DEV=3", true), ("hw:CARD=PCH,DEV=0", "hw:CARD=USB,DEV=0", false),
        ])
    func clocks(_ a: String, _ b: String, _ isShared: Bool) {
        #expect(ALSASystem.shareClock(a, b) == isShared)
    }
}
