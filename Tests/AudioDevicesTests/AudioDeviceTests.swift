// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDevices
import Foundation
import TestSupport
import TestTraits
import Testing

/// Tests the contract of every device, on each sound system.
@Suite("AudioDevice", .serialized, .realTime, .needs("jackd", "pipewire")) struct AudioDeviceTests {
    typealias Kind = DeviceBench.Kind

    struct Format: CustomTestStringConvertible {
        var kind: Kind
        var block: Int
        var testDescription: String { "\(kind.rawValue), \(block)" }
        static let all = Kind.allCases.flatMap { kind in kind.blocks.map { Format(kind: kind, block: $0) } }
    }

    @Test("consecutive callbacks have continuous sample times", arguments: Format.all)
    func callsArrive(_ format: Format) throws {
        try DeviceBench.with(format.kind, .block(format.block)) { bench in
            let device = try bench.open()
            #expect(device.sampleRate == 48_000)
            #expect(device.blockFrameCount == format.block)
            #expect(device.inputChannelCount == 1 && device.outputChannelCount == 2)
            let probe = CycleProbe()
            try device.start(probe.callback)
            #expect(eventually { probe.count >= 20_000 / format.block + 10 })
            device.stop()
            let notes = probe.notes
            // The server behind ALSA's plug-in has its own block, so the callbacks come in bursts.
            expectContinuity(notes, of: device, tolerance: format.kind == .alsa ? 0.5 : 0.1)
            #expect(notes.allSatisfy { $0.inputCount == 1 && $0.outputCount == 2 && $0.outputWasSilent })
            #expect(notes.allSatisfy { $0.frameCount == format.block })
            #expect(device.failure == nil)
        }
    }

    @Test(
        "sample times stay consistent when the server's block size changes while a device runs",
        arguments: [Kind.jack, .pipewire])
    func changingBlock(_ kind: Kind) throws {
        try DeviceBench.with(kind, .block(256)) { bench in
            let changeBlock = try #require(bench.changeBlock)
            let device = try bench.open()
            let probe = CycleProbe()
            try device.start(probe.callback)
            #expect(eventually { probe.count >= 10 })
            for block in [64, 1_024, 128] {
                try changeBlock(block)
                #expect(eventually { probe.notes.last?.frameCount == block })
                let count = probe.count
                #expect(eventually { probe.count >= count + 10 })
                #expect(eventually { device.blockFrameCount == block })
            }
            device.stop()
            #expect(Set(probe.notes.map(\.frameCount)).isSuperset(of: [64, 128, 256, 1_024]))
            let pairs = zip(probe.notes, probe.notes.dropFirst())
            for (a, b) in pairs {
                #expect(b.sampleTime >= a.sampleTime + Int64(a.frameCount))
                // After a pause of the machine jackd reports what it missed gradually, in the callbacks after it.
                if kind == .jack { continue }
                #expect(b.hostTime > a.hostTime)
                // The device must not report more lost frames than have passed. A callback may have been late: its block's own
                // time counts.
                let passed = b.arrival.seconds(since: min(a.arrival, a.hostTime)) * device.sampleRate
                #expect(Double(b.sampleTime - a.sampleTime - Int64(a.frameCount)) <= passed)
            }
            // In these callbacks the loop may start again, earlier; and the lost frames did pass, in total.
            let backwards = pairs.count { a, b in b.hostTime <= a.hostTime }
            #expect(backwards * 50 < probe.notes.count, "\(backwards) of \(probe.notes.count)")
            let (first, last) = (try #require(probe.notes.first), try #require(probe.notes.last))
            let passed = last.arrival.seconds(since: min(first.arrival, first.hostTime)) * device.sampleRate
            #expect(Double(last.sampleTime - first.sampleTime) <= passed + 2_048)
            #expect(device.failure == nil)
        }
    }

    @Test("callbacks end after a stop, and the device can be started again", arguments: Kind.allCases)
    func stopAndStart(_ kind: Kind) throws {
        try DeviceBench.with(kind) { bench in
            let device = try bench.open()
            device.stop()
            let probe = CycleProbe()
            try device.start(probe.callback)
            #expect(throws: AudioDeviceError.alreadyRunning) { try device.start(probe.callback) }
            #expect(eventually { probe.count >= 10 })
            device.stop()
            let count = probe.count
            #expect(!(0..<20).contains { _ in usleepAndCompare(probe, count) })
            device.stop()
            let again = CycleProbe()
            try device.start(again.callback)
            #expect(eventually { again.count >= 10 })
            device.stop()
            #expect(probe.count == count)
            #expect(device.failure == nil)
        }
    }

    @Test("a direction without channels is not opened, even for the default device", arguments: Kind.allCases)
    func noChannels(_ kind: Kind) throws {
        try DeviceBench.with(kind) { bench in
            var request = bench.request
            (request.input, request.inputChannelCount) = (.systemDefault, 0)
            let lone = try bench.system.open(request)
            #expect(lone.inputChannelCount == 0 && lone.outputChannelCount == 2)
            if kind == .pipewire { #expect(lone.name == "speaker") }
            request.outputChannelCount = 0
            #expect(throws: AudioDeviceError.self) { try bench.system.open(request) }
        }
    }

    @Test("callbacks after a restart have current host times", arguments: Kind.allCases)
    func hostTimeAfterStop(_ kind: Kind) throws {
        try DeviceBench.with(kind) { bench in
            let device = try bench.open()
            let first = CycleProbe()
            try device.start(first.callback)
            #expect(eventually { first.count >= 30 })
            device.stop()
            usleep(100_000)
            let second = CycleProbe()
            try device.start(second.callback)
            #expect(eventually { second.count >= 12 })
            device.stop()
            let delays = second.notes.prefix(12).map { abs($0.arrival.seconds(since: $0.hostTime)) }.sorted()
            #expect(delays[6] < 0.05)
        }
    }

    /// PipeWire's time is that of its driver, at most a cycle earlier.
    @Test("each callback knows when it began", arguments: [Kind.jack, .pipewire, .alsa])
    func lateness(_ kind: Kind) throws {
        try DeviceBench.with(kind) { bench in
            let device = try bench.open()
            let probe = CycleProbe()
            try device.start(probe.callback)
            #expect(eventually { probe.count >= 60 })
            device.stop()
            let delays = probe.notes.map { $0.arrival.seconds(since: $0.hostTime.advanced(bySeconds: $0.lateness)) }
            #expect(delays.allSatisfy { $0 > -1e-8 })
            #expect(delays.sorted()[delays.count / 2] < 0.02)
            #expect(probe.notes.contains { $0.lateness != 0 })
        }
    }

    @Test("each callback leaves a record in the given monitor", arguments: Kind.allCases)
    func records(_ kind: Kind) throws {
        try DeviceBench.with(kind) { bench in
            let monitor = CallbackMonitor(sampleRate: 48_000)
            let device = try bench.open { $0.monitor = monitor }
            #expect(device.monitor === monitor)
            let probe = CycleProbe()
            try device.start(probe.callback)
            #expect(eventually { monitor.callCount >= 20 })
            device.stop()
            var records: [CallbackMonitor.Record] = []
            while let record = monitor.nextRecord() { records.append(record) }
            #expect(records.count == probe.count)
            #expect(records.count == monitor.callCount)
            #expect(records.allSatisfy { $0.frameCount == 256 && $0.duration > 0 })
        }
    }

    @Test(
        "devices run with one direction only, with both, and with 32 channels", arguments: Kind.allCases,
        [(0, 1), (1, 0), (2, 2), (32, 32)])
    func channelCounts(_ kind: Kind, counts: (inputs: Int, outputs: Int)) throws {
        try DeviceBench.with(kind, .init(channelCount: max(2, counts.inputs))) { bench in
            let device = try bench.open(inputs: counts.inputs, outputs: counts.outputs)
            #expect(device.inputChannelCount == counts.inputs && device.outputChannelCount == counts.outputs)
            let probe = CycleProbe()
            try device.start(probe.callback)
            #expect(eventually { probe.count >= 5 })
            device.stop()
            #expect(probe.notes.allSatisfy { $0.inputCount == counts.inputs && $0.outputCount == counts.outputs })
        }
    }

    @Test("requests without a direction or with invalid parameters are rejected", arguments: Kind.allCases)
    func wrongRequests(_ kind: Kind) throws {
        try DeviceBench.with(kind) { bench in
            for change: (inout AudioDeviceRequest) -> Void in [
                { ($0.input, $0.output) = (.none, .none) }, { $0.inputChannelCount = 33 },
                { $0.outputChannelMap = [0] }, { $0.blockFrameCount = 15 }, { $0.sampleRate = 4_000 },
            ] {
                do throws(AudioDeviceError) {
                    var request = bench.request
                    change(&request)
                    _ = try bench.system.open(request)
                    Issue.record("it was opened")
                } catch {
                    guard case .unsupportedFormat = error else {
                        Issue.record("\(error)")
                        continue
                    }
                }
            }
        }
    }

    private func usleepAndCompare(_ probe: CycleProbe, _ count: Int) -> Bool {
        usleep(1_000)
        return probe.count != count
    }
}

/// Checks that each note continues the previous one, or that the monitor reports the frames in between, and that host time
/// follows sample time.
func expectContinuity(_ notes: [CycleProbe.Note], of device: any AudioDevice, tolerance: Double) {
    var skipped: Int64 = 0
    for (a, b) in zip(notes, notes.dropFirst()) {
        let jump = b.sampleTime - a.sampleTime - Int64(a.frameCount)
        #expect(jump >= 0)
        skipped += jump
    }
    let deviation = hostTimeDeviation(notes.map { ($0.sampleTime, $0.hostTime) }, sampleRate: device.sampleRate)
    let block = Double(notes.first?.frameCount ?? 1) / device.sampleRate
    #expect(deviation / block < tolerance, "of a block, between host time and sample time")
    #expect(skipped <= Int64(device.monitor.skippedFrameCount))
}

/// Returns the median difference of host time and sample time between callbacks, in seconds. A machine that pauses for some
/// milliseconds shifts a few callbacks, which is not the device's fault.
func hostTimeDeviation(_ calls: [(sampleTime: Int64, hostTime: HostTime)], sampleRate: Double) -> Double {
    let deviations = zip(calls, calls.dropFirst()).map { a, b in
        abs(b.hostTime.seconds(since: a.hostTime) - Double(b.sampleTime - a.sampleTime) / sampleRate)
    }.sorted()
    return deviations.isEmpty ? .infinity : deviations[deviations.count / 2]
}
