// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Testing

@testable import EarshotCall

/// The cycles of a recording while the device skips frames, or does not call at all.
@Suite struct RecordingWithoutDeviceTests {
    private static let beginning = HostTime(nanoseconds: 5_000_000_000)

    /// A recording, and the queue of a device whose frame 0 is at time 0.
    private struct Rig {
        let processor = CallProcessor(channelCount: 1, deviceRate: 48_000, wakeup: Wakeup())
        let recording: CallRecording

        init() { recording = CallRecording(of: processor, sampleRate: 48_000, channelCount: 1) }

        /// The device calls.
        func call(at sampleTime: Int64, count: Int = 480) {
            processor.cycles.writer.push(
                CallCycle(
                    sampleTime: sampleTime, frameCount: count,
                    hostTime: RecordingWithoutDeviceTests.beginning.advanced(bySeconds: Double(sampleTime) / 48_000)))
        }

        /// Reads all cycles until a time in seconds; nil without replacing the device.
        func read(until now: Double? = nil, tolerance: Double = CallRecording.deviceTolerance) -> [CallCycle] {
            let now = now.map { RecordingWithoutDeviceTests.beginning.advanced(bySeconds: $0) }
            var all: [CallCycle] = []
            while let cycle = recording.read(until: now, tolerance: tolerance, { _, _, _ in }) { all.append(cycle) }
            return all
        }
    }

    /// The frame after the last cycle.
    private static func end(_ cycles: [CallCycle]) -> Int64 {
        cycles.last.map { $0.sampleTime + Int64($0.frameCount) } ?? 0
    }

    /// True if each cycle begins where the one before ends, with frames that a callback may have, at the time of its first frame.
    private static func isContiguous(_ cycles: [CallCycle]) -> Bool {
        zip(cycles, cycles.dropFirst()).allSatisfy { $0.0.sampleTime + Int64($0.0.frameCount) == $0.1.sampleTime }
            && cycles.allSatisfy { cycle in
                let seconds = cycle.hostTime.seconds(since: beginning)
                return (1...IOCycle.maximumFrameCount).contains(cycle.frameCount)
                    && abs(seconds - Double(cycle.sampleTime) / 48_000) < 1e-6
            }
    }

    @Test func `before the device's first call nothing is read, whatever the time`() {
        let rig = Rig()
        #expect(rig.read(until: 100).isEmpty && rig.read(until: 100, tolerance: 0).isEmpty)
    }

    @Test func `a device that stops calling is replaced after the tolerance, up to the tolerance before now`() {
        let rig = Rig()
        rig.call(at: 0)
        #expect(rig.read(until: 0.4).map(\.frameCount) == [480])
        #expect(rig.read(until: 0.509).isEmpty, "the device's next call was due 0.499 s ago")
        let early = rig.read(until: 0.6)
        #expect(early.first?.sampleTime == 480 && Self.isContiguous(early) && abs(Self.end(early) - 4_800) <= 1)
        let all = early + rig.read(until: 2)
        #expect(Self.isContiguous(all) && abs(Self.end(all) - 72_000) <= 1, "\(Self.end(all))")
        #expect(rig.read(until: 2).isEmpty)
        // The end of a recording does not wait for the device.
        let last = rig.read(until: 2, tolerance: 0)
        #expect(Self.isContiguous(all + last) && abs(Self.end(last) - 96_000) <= 1, "\(Self.end(last))")
    }

    @Test func `without a time the device is not replaced`() {
        let rig = Rig()
        rig.call(at: 0)
        #expect(rig.read().count == 1 && rig.read().isEmpty)
        rig.recording.end()
        rig.call(at: 480)
        #expect(rig.read().isEmpty && rig.read(until: 100).isEmpty)
    }

    @Test func `calls that come late for frames already read are left out, or trimmed`() {
        let rig = Rig()
        rig.call(at: 0)
        let before = rig.read(until: 2)
        #expect(abs(Self.end(before) - 72_000) <= 1)
        for number in 0..<10 { rig.call(at: 69_700 + Int64(480 * number)) }
        let after = rig.read()
        #expect(after.count == 6, "four calls were for frames read before, and a part of the fifth was")
        #expect(after.first?.sampleTime == Self.end(before) && Self.isContiguous(before + after))
        #expect(Self.end(after) == 74_500)
        // From here on the device is read as before.
        rig.call(at: 74_500)
        #expect(rig.read(until: 1.6).map(\.sampleTime) == [74_500])
    }

    @Test func `a gap of 10 s is rendered completely, and a gap of two minutes is a jump`() {
        let rig = Rig()
        rig.call(at: 0)
        rig.call(at: 480_480)
        let all = rig.read()
        #expect(all.first?.sampleTime == 0 && Self.isContiguous(all) && Self.end(all) == 480_960)
        rig.call(at: 480_960 + 120 * 48_000)
        #expect(rig.read().map(\.sampleTime) == [480_960 + 120 * 48_000])
    }

    @Test func `a device that calls again after a gap continues with its own frames`() {
        let rig = Rig()
        rig.call(at: 0)
        var all = rig.read(until: 1)
        // It missed 3 s, of which the reader has half a second.
        rig.call(at: 144_000)
        rig.call(at: 144_480)
        all += rig.read(until: 3.02)
        #expect(Self.isContiguous(all) && Self.end(all) == 144_960)
        #expect(all.suffix(2).map(\.sampleTime) == [144_000, 144_480])
    }
}
