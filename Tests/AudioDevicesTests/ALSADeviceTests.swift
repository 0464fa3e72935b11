// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Foundation
import TestSupport
import TestTraits
import Testing

@testable import EarshotAudioDevices

/// Through PipeWire's plug-in for ALSA, in real time.
@Suite("ALSADevice", .serialized, .realTime, .needs("pipewire")) struct ALSADeviceTests {
    enum Direction: CaseIterable {
        case duplex, capture, playback

        var capture: String? { self == .playback ? nil : "pipewire" }
        var playback: String? { self == .capture ? nil : "pipewire" }
    }

    @Test("consecutive callbacks have continuous sample times", arguments: Direction.allCases, [64, 256, 470])
    func callsArrive(_ direction: Direction, block: Int) throws {
        try ALSARig.running { _ in
            let device = try ALSARig.device(capture: direction.capture, playback: direction.playback, block: block)
            #expect(device.sampleRate == 48_000 && device.blockFrameCount == block)
            let probe = CycleProbe()
            try device.start(probe.callback)
            #expect(eventually { probe.count >= 100 })
            device.stop()
            let notes = probe.notes
            var skipped: Int64 = 0
            for (a, b) in zip(notes, notes.dropFirst()) {
                let jump = b.sampleTime - a.sampleTime - Int64(a.frameCount)
                #expect(jump >= 0)
                skipped += jump
            }
            let times = notes.map { ($0.sampleTime, $0.hostTime) }
            #expect(hostTimeDeviation(times, sampleRate: 48_000) < 0.25 * Double(block) / 48_000)
            #expect(skipped == Int64(device.monitor.skippedFrameCount))
            #expect(notes.allSatisfy { $0.frameCount == block && $0.outputWasSilent })
            #expect(notes.allSatisfy { $0.inputCount == (direction == .playback ? 0 : 1) })
            #expect(notes.allSatisfy { $0.outputCount == (direction == .capture ? 0 : 2) })
            #expect(device.inputLatency >= Double(block) / 48_000 && device.inputLatency < 1)
            #expect(device.outputLatency >= Double(block) / 48_000 && device.outputLatency < 1)
            #expect(device.failure == nil)
        }
    }

    @Test("a sine passes through at its level and at the resolution of the sample type", arguments: SampleType.allCases)
    func sound(_ type: SampleType) throws {
        try ALSARig.running(isLooped: true) { _ in
            for isCapture in [false, true] {
                // The other direction is 32-bit float, so that only one conversion is measured.
                let (capture, playback) = isCapture ? ("plug:pipewire", "pipewire") : ("pipewire", "plug:pipewire")
                let device = try ALSARig.device(
                    capture: capture, playback: playback, inputs: 2, outputs: 2, sampleTypes: [type, .float32])
                if !isCapture { #expect(device.sampleType == type) }
                let probe = ToneProbe(amplitude: 0.5, inputCount: 2)
                try device.start(probe.callback)
                #expect(eventually { probe.count >= 24_000 && probe.tone(0, heardBy: 0).amplitude > 0.4 })
                let resolution: Double =
                    switch type {
                    case .uint8: 38
                    case .int16: 85
                    default: 110
                    }
                #expect(
                    eventually {
                        (0..<2).allSatisfy {
                            let (amplitude, distance) = probe.tone($0, heardBy: $0)
                            return abs(amplitude - 0.5) < 0.01 && distance > resolution
                        }
                    },
                    "\(probe.tone(0, heardBy: 0)), \(probe.tone(1, heardBy: 1)), capture \(isCapture)")
                device.stop()
            }
        }
    }

    @Test(
        "a card's only sample type is chosen",
        arguments: [
            ("u8", SampleType.uint8), ("s16", .int16), ("s24packed", .int24), ("s24", .int24In32), ("s32", .int32),
            ("f32", .float32), ("pipewire", .float32),
        ])
    func sampleTypes(_ pcm: String, _ type: SampleType) throws {
        try ALSARig.running { _ in
            let first = try ALSARig.device(capture: pcm, playback: pcm)
            #expect(first.sampleType == type)
            let second = try ALSARig.device(capture: pcm, playback: nil)
            #expect(second.sampleType == type)
        }
    }

    @Test("a channel map selects the device's channels, and two outputs on one channel are mixed")
    func maps() throws {
        try ALSARig.running(isLooped: true) { _ in
            var request = AudioDeviceRequest()
            request.blockFrameCount = 256
            request.inputChannelCount = 3
            request.inputChannelMap = [1, 0, 9]
            request.outputChannelCount = 3
            request.outputChannelMap = [1, 1, 40]
            let device = try ALSADevice(name: "probe", capture: "pipewire", playback: "speaker", request: request)
            let probe = ToneProbe(amplitude: 0.25, inputCount: 3)
            try device.start(probe.callback)
            // Both sines are on the right channel, which is heard first.
            func amplitudes(_ input: Int) -> [Double] { (0..<3).map { probe.tone($0, heardBy: input).amplitude } }
            #expect(
                eventually {
                    let heard = amplitudes(0)
                    return abs(heard[0] - 0.25) < 0.01 && abs(heard[1] - 0.25) < 0.01 && heard[2] < 0.001
                }, "\(amplitudes(0))")
            #expect(probe.tail(1, 4_800).allSatisfy { $0 == 0 } && probe.tail(2, 4_800).allSatisfy { $0 == 0 })
            device.stop()
        }
    }

    @Test("a single output channel is played on both left and right")
    func loneOutput() throws {
        try ALSARig.running(isLooped: true) { _ in
            let device = try ALSARig.device(capture: "pipewire", playback: "pipewire", inputs: 2, outputs: 1)
            let probe = ToneProbe(amplitude: 0.5, inputCount: 2)
            try device.start(probe.callback)
            #expect(
                eventually { (0..<2).allSatisfy { abs(probe.tone(0, heardBy: $0).amplitude - 0.5) < 0.01 } })
            device.stop()
        }
    }

    @Test("an unsupported sample rate is rejected with the supported ones; by default the device's own is used")
    func rates() throws {
        try ALSARig.running { _ in
            let first = try ALSARig.device(capture: "cd", playback: "cd", rate: nil)
            #expect(first.sampleRate == 44_100)
            let second = try ALSARig.device(capture: "fixed", playback: nil, rate: nil)
            #expect(second.sampleRate == 44_100)
            let third = try ALSARig.device(capture: "fixed", playback: "fixed", rate: 48_000)
            #expect(third.sampleRate == 48_000)
            let fourth = try ALSARig.device(rate: 96_000)
            #expect(fourth.sampleRate == 96_000)
            #expect {
                try ALSARig.device(capture: "cd", playback: "cd", rate: 48_000)
            } throws: { error in
                guard case AudioDeviceError.unsupportedFormat(let detail) = error else { return false }
                return detail.contains("48000 Hz") && detail.contains("44100")
            }
            // Two devices without a common sample rate are refused and not resampled unasked.
            #expect(throws: AudioDeviceError.self) {
                try ALSARig.device(capture: "cd", playback: "studio", rate: nil)
            }
        }
    }

    @Test("a late callback is an xrun: it is counted, its frames are skipped, and the device recovers")
    func xrun() throws {
        try ALSARig.running { _ in
            let device = try ALSARig.device(block: 64)
            let probe = StallingProbe(stallsAt: 100, microseconds: 400_000)
            try device.start(probe.callback)
            #expect(eventually { probe.notes.count >= 300 })
            device.stop()
            #expect(device.monitor.xrunCount >= 1)
            #expect(device.monitor.skippedFrameCount >= 9_600)  // 0.4 s less than what the buffer keeps
            #expect(device.failure == nil)
            let notes = probe.notes
            #expect(hostTimeDeviation(notes, sampleRate: 48_000) < 0.01)
            // The jump is as long as the stall.
            let (first, last) = (try #require(notes.first), try #require(notes.last))
            let seconds = last.hostTime.seconds(since: first.hostTime)
            #expect(abs(seconds - Double(last.sampleTime - first.sampleTime) / 48_000) < 0.05)
        }
    }

    @Test("killing the server while a device runs is a failure, not a hang", arguments: Direction.allCases)
    func serverKilled(_ direction: Direction) throws {
        try ALSARig.running { server in
            let device = try ALSARig.device(capture: direction.capture, playback: direction.playback)
            let probe = CycleProbe()
            try device.start(probe.callback)
            #expect(eventually { probe.count >= 10 })
            server.stop()
            #expect(eventually { device.failure != nil })
            switch device.failure {
            case .serverGone(.alsa, _), .stalled, .deviceGone: break
            default: Issue.record("\(String(describing: device.failure))")
            }
            #expect(device.realTimePriority == nil)
            #expect(throws: AudioDeviceError.self) { try device.start(probe.callback) }
            device.stop()
            let count = probe.count
            usleep(20_000)
            #expect(probe.count == count)
        }
    }

    @Test("a card that stops delivering is reported as stalled; stopping it earlier returns at once")
    func stalled() throws {
        try ALSARig.running { server in
            let device = try ALSARig.device()
            let probe = CycleProbe()
            try device.start(probe.callback)
            #expect(eventually { probe.count >= 10 })
            server.signal(SIGSTOP)
            usleep(200_000)
            device.stop()
            #expect(device.failure == nil)
            server.signal(SIGCONT)
            try device.start(probe.callback)
            let count = probe.count
            #expect(eventually { probe.count >= count + 10 })
            server.signal(SIGSTOP)
            #expect(eventually { device.failure != nil })
            #expect(device.failure == .stalled(device: "pipewire", seconds: 1))
            device.stop()
            server.signal(SIGCONT)
        }
    }

    @Test("starting and stopping leaks no descriptors or threads")
    func leaks() throws {
        try ALSARig.running { _ in
            func entries(_ path: String) -> Int {
                (try? FileManager.default.contentsOfDirectory(atPath: path).count) ?? 0
            }
            func cycle(_ device: ALSADevice) throws {
                let probe = CycleProbe()
                try device.start(probe.callback)
                #expect(eventually { probe.count >= 2 })
                device.stop()
            }
            try cycle(try ALSARig.device())
            let before = (entries("/proc/self/fd"), entries("/proc/self/task"))
            for _ in 0..<10 { try cycle(try ALSARig.device(block: 64)) }
            do {
                let device = try ALSARig.device(block: 64)
                for _ in 0..<20 { try cycle(device) }
            }
            #expect(eventually { entries("/proc/self/fd") <= before.0 && entries("/proc/self/task") <= before.1 })
        }
    }

    @Test("a request without input and output is rejected, and so is a missing PCM")
    func refused() throws {
        try ALSARig.withConfiguration {
            #expect(throws: AudioDeviceError.self) { try ALSARig.device(inputs: 0, outputs: 0) }
            #expect(throws: AudioDeviceError.noDevice(name: "nonsense", near: [])) {
                try ALSARig.device(capture: "nonsense", playback: nil)
            }
            #expect(throws: AudioDeviceError.deviceGone(name: "hw:CARD=Gone,DEV=0")) {
                try ALSARig.device(capture: nil, playback: "hw:CARD=Gone,DEV=0")
            }
        }
    }

    @Test("a device keeps the pace of a server that runs with longer blocks", arguments: [Direction.duplex, .playback])
    func longerQuantum(_ direction: Direction) throws {
        try ALSARig.running { server in
            try server.forceQuantum(1_024)
            let device = try ALSARig.device(capture: direction.capture, playback: direction.playback, block: 64)
            let probe = CycleProbe()
            try device.start(probe.callback)
            // A second of real time with the callbacks of a second, and no more lost frames.
            var skipped = -1
            #expect(
                (0..<20).contains { _ in
                    let (calls, begin) = (probe.count, HostTime.now())
                    skipped = device.monitor.skippedFrameCount
                    usleep(500_000)
                    let expected = HostTime.now().seconds(since: begin) * 48_000 / 64
                    return Double(probe.count - calls) > 0.9 * expected && device.monitor.skippedFrameCount == skipped
                })
            device.stop()
            #expect(device.failure == nil && device.outputLatency > 0.015)
        }
    }

    @Test("a PCM without a clock fails instead of using all CPU time", arguments: [nil, "null"])
    func unpaced(_ capture: String?) throws {
        try ALSARig.withConfiguration {
            let device = try ALSARig.device(capture: capture, playback: "null")
            let probe = CycleProbe()
            do {
                try device.start(probe.callback)
                #expect(eventually { device.failure != nil })
            } catch { #expect(device.failure == error as? AudioDeviceError) }
            guard case .unsupportedFormat = device.failure else {
                Issue.record("\(String(describing: device.failure))")
                return
            }
            device.stop()
        }
    }

    @Test("any requested block size is used exactly", arguments: [16, 17, 64, 333, 470, 1_000, 4_096])
    func blocks(_ block: Int) throws {
        try ALSARig.withConfiguration {
            let first = try ALSARig.device(capture: "null", playback: "null", block: block)
            #expect(first.blockFrameCount == block)
        }
    }
}

/// Records sample and host times, and sleeps once.
private final class StallingProbe: @unchecked Sendable {  // read after the device has stopped, or for the count alone
    private(set) var notes: [(sampleTime: Int64, hostTime: HostTime)] = []
    private let stallsAt: Int
    private let microseconds: UInt32

    init(stallsAt: Int, microseconds: UInt32) {
        self.stallsAt = stallsAt
        self.microseconds = microseconds
        notes.reserveCapacity(100_000)
    }

    var callback: RenderCallback {
        RenderCallback(context: Unmanaged.passUnretained(self).toOpaque()) { context, cycle in
            guard let context, let cycle = cycle?.assumingMemoryBound(to: IOCycle.self).pointee else { return }
            let probe = Unmanaged<StallingProbe>.fromOpaque(context).takeUnretainedValue()
            probe.notes.append((cycle.sampleTime, cycle.hostTime))
            if probe.notes.count == probe.stallsAt { usleep(probe.microseconds) }
        }
    }
}
