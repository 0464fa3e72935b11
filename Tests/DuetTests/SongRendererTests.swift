// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EngineMeasures
import Foundation
import Testing

@testable import EarshotDuet

/// The song as the loudspeaker plays it: no clicks, and nothing in a wrong place.
@Suite struct SongRendererTests {
    /// A tone whose clicks are measured.
    private static func tone(at seconds: Double) -> Double { 0.5 * cos(2 * .pi * 100 * seconds) }

    private func rig(seconds: Double = 10) -> SingerRig {
        SingerRig(
            song: Int(seconds * SingerRig.songRate), output: Card(partsPerMillion: 50, latency: (100, 200)),
            sings: Self.tone)
    }

    @Test func `a start, a stop, a resume, a jump, an underrun, a gap and the end do not click`() throws {
        let rig = rig()
        try rig.start(at: 0.2, position: 0)
        try rig.run(until: 0.6)
        rig.order(.stop(at: SingerRig.hostTime(0.7123)))
        try rig.run(until: 1)
        rig.order(.resume(at: SingerRig.hostTime(1.1007)))
        try rig.run(until: 1.5)
        try rig.start(at: 1.6031, position: 5.0023)
        try rig.run(until: 2)
        try rig.stall(until: 2.8)
        try rig.run(until: 3.5)
        try rig.start(at: 3.6, position: 9.5)
        try rig.run(until: 5)
        #expect(rig.click < -60, "\(rig.click) dBFS")
        #expect(rig.largestError < 2e-3)
        #expect(rig.takeSilences()[.underrun] ?? 0 > 1_000)
    }

    @Test func `orders that come too late do not click, and the song stays in its place`() throws {
        let rig = rig()
        try rig.start(at: -0.5, position: 0)
        try rig.run(until: 0.5)
        #expect(rig.firstHeard.map { abs($0.time - ($0.position / SingerRig.songRate - 0.5)) < 30e-6 } == true)
        try rig.start(at: 0.4, position: 3)
        try rig.run(until: 1)
        rig.order(.stop(at: SingerRig.hostTime(0.9)))
        try rig.run(until: 1.5)
        rig.order(.resume(at: SingerRig.hostTime(1.4)))
        try rig.run(until: 2)
        #expect(rig.click < -60, "\(rig.click) dBFS")
        #expect(rig.largestError < 2e-3)
    }

    @Test func `after frames that the device skipped the song fades in, in its place`() throws {
        let rig = rig()
        try rig.start(at: 0.2, position: 0)
        try rig.run(until: 1)
        rig.output.next += 500
        let first = rig.outputSound.count
        try rig.run(until: 1.5)
        #expect(rig.outputSound.suffix(1_000).contains { abs($0) > 0.4 }, "the song goes on")
        var meter = ClickMeter(settling: 0)
        for sample in rig.outputSound[first...] { meter.add(sample) }
        #expect(meter.level < -60, "\(meter.level) dBFS")
        #expect(rig.largestError < 2e-3)
    }

    @Test func `a stop that is known in time is exact, and a resume goes on with the next frame`() throws {
        let rig = rig()
        try rig.start(at: 0.2, position: 0)
        try rig.run(until: 0.5)
        rig.order(.stop(at: SingerRig.hostTime(0.7)))
        try rig.run(until: 1)
        let frames = rig.takeSilences()
        #expect(frames[.underrun] == nil)
        rig.order(.resume(at: SingerRig.hostTime(1.2)))
        try rig.run(until: 2)
        #expect(rig.takeSilences()[.underrun] == nil)
        rig.finish()
        let map = rig.map
        let (stop, resume) = (Int64(0.7 * 48_000), Int64(1.2 * 48_000))
        let before = try #require(map.position(at: stop)), after = try #require(map.position(at: resume + 600))
        // 600 frames after the resume, less the frames after the stop's own frame and the latencies.
        #expect(abs(after.frames - before.frames - Double(600) * 44_100 / 48_000) < 5)
    }

    @Test func `each of many jumps in a row finds its frames in the ring`() throws {
        let rig = rig(seconds: 60)
        try rig.start(at: 0.2, position: 0)
        try rig.run(until: 2)
        _ = rig.takeSilences()
        rig.turnLength = 2_400
        // Each jump is ordered 60 ms before its time, and the next one 30 ms later.
        for jump in 1...40 {
            let now = 2 + 0.03 * Double(jump)
            try rig.start(at: now + 0.06, position: Double(jump))
            try rig.run(until: now + 0.03)
        }
        try rig.run(until: 4)
        #expect(rig.takeSilences()[.underrun] == nil)
        #expect(rig.click < -60, "\(rig.click) dBFS")
        #expect(rig.largestError < 2e-3)
        let position = 40 + (4.0 - 3.26)
        rig.finish()
        let last = try #require(rig.map.pieces.last)
        #expect(abs(last.endPosition.frames / SingerRig.songRate - position) < 0.02)
    }

    @Test func `after the song's end it is stopped, and nothing is missing`() throws {
        let rig = rig(seconds: 1)
        try rig.start(at: 0.2, position: 0)
        try rig.run(until: 2)
        #expect(rig.takeSilences()[.underrun] == nil)
        rig.order(.resume(at: SingerRig.hostTime(2.1)))
        try rig.run(until: 3)
        #expect(rig.takeSilences()[.underrun] == nil)
        // A jump from the end plays again.
        try rig.start(at: 3.2, position: 0.5)
        try rig.run(until: 3.5)
        let silences = rig.takeSilences()
        #expect(silences[.underrun] == nil && silences[.stopped] ?? 0 < 11_000)
        rig.finish()
        let reasons = Set(rig.entries.compactMap { if case .gap(let gap) = $0 { gap.reason } else { nil } })
        #expect(reasons.contains(.stopped) && !reasons.contains(.underrun))
    }
}
