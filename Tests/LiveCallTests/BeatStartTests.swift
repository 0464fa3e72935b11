// SPDX-License-Identifier: Apache-2.0

import TestTraits
import Testing

@testable import EarshotDuet
@testable import EarshotLiveCall
@testable import EarshotSimulation

/// A beat in place of a song, in whole calls on virtual time.
@Suite(.optimized) struct BeatStartTests {
    /// The milliseconds between the loudspeakers on a LAN: the limits of ``DuetStartTests``.
    private static let limit = (start: 0.16, later: 0.08)

    @Test(arguments: 1...5 as ClosedRange<UInt64>)
    func `two loudspeakers count in a beat and play it together, and again after a pause in the count-in`(
        seed: UInt64
    ) throws {
        let beat = SongFile.describe(Beat(tempo: 96), duration: 30)
        let rig = try DuetStartRig(seed: seed, network: NetworkProfile(.lan), beat) {
            SongPlayer(beat.countIn, duration: beat.duration, channelCount: 1, deviceRate: 48_000)
        }
        func difference() throws -> Double { abs(try #require(rig.difference)) * 1e3 }
        func positions() -> [Double] {
            rig.duets.compactMap { $0.player.map { $0.state.position.frames / $0.sampleRate } }
        }
        try rig.run(until: 1.5)
        for index in 0..<2 { try rig.duets[index].core?.agree() }
        // The count-in of 2.5 s begins at 3.1 s.
        try rig.run(until: 4.5)
        #expect(positions().allSatisfy { $0 < -0.5 && $0 > -2.5 }, "\(positions())")
        #expect(try difference() < Self.limit.start)
        try rig.duets[1].core?.pause(at: rig.local(1))
        try rig.run(until: 6)
        #expect(rig.difference == nil)
        try rig.duets[0].core?.resume(at: rig.local(0))
        // The count-in begins at 6.5 s.
        try rig.run(until: 8)
        #expect(positions().allSatisfy { abs($0 + 1.02) < 0.15 }, "\(positions())")
        #expect(try difference() < Self.limit.start)
        try rig.run(until: 12)
        #expect(positions().allSatisfy { abs($0 - 2.98) < 0.15 }, "\(positions())")
        #expect(try difference() < Self.limit.later)
        #expect(rig.duets.allSatisfy { $0.player?.state.missingFrameCount == 0 })
    }
}
