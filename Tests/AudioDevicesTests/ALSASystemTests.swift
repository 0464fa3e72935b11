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

    @Test("PCMs that can be opened are listed with their capabilities, and the first is the default")
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

    @Test(
        "without a card or server the list is empty, and the failure is reported", .enabled(if: ALSACard.all().isEmpty))
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

    @Test("the device list empties when the server stops and is restored when it restarts")
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

    @Test("the default devices are opened with the requested parameters and run")
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

    @Test("a single direction is opened by its id, independently of the other direction")
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

    @Test("an input and an output on two cards run as one device")
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

    @Test("an input with another sample rate than the output's card is resampled")
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

    @Test("a card with only xruns is reported as gone only if the kernel says that it is disconnected")
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

    @Test("an unknown device is rejected with similar names")
    func unknown() throws {
        try ALSARig.running { _ in
            let system = system(["quad"])
            var request = AudioDeviceRequest()
            request.output = .device(id: "quab")
            request.input = .none
            #expect(throws: AudioDeviceError.noDevice(name: "quab", near: ["quad"])) { try system.open(request) }
        }
    }

    @Test("a PCM that does not support the requested direction is rejected")
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
        "two PCMs share a clock if they are identical or on the same card",
        arguments: [
            ("default", "default", true), ("default", "pipewire", false),
            ("hw:CARD=PCH,DEV=0", "hw:CARD=PCH,DEV=3", true), ("hw:CARD=PCH,DEV=0", "hw:CARD=USB,DEV=0", false),
        ])
    func clocks(_ a: String, _ b: String, _ isShared: Bool) {
        #expect(ALSASystem.shareClock(a, b) == isShared)
    }
}
