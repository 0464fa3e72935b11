// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioFiles
import Foundation
import Testing

@testable import EarshotDuet

/// Two singers on cards 300 ppm apart, whose rates change by 50 ppm in mid-take.
@Suite struct AlignedTakeTests {
    private static let songLength = Int(16 * SingerRig.songRate)

    /// One device, an underrun, a pause, a changed rate, a seek and a dropout.
    private func anna() throws -> SingerRig {
        let singer = SingerRig(
            song: Self.songLength,
            output: Card(firstFrame: 1_000, partsPerMillion: 150, latency: (312, 421), change: (250_000, 50)))
        try singer.run(until: 0.5)
        try singer.start(at: 1, position: 0)
        try singer.run(until: 3)
        try singer.stall(until: 3.5)
        try singer.run(until: 4)
        singer.source.setCorrection(0.0002)
        singer.order(.stop(at: SingerRig.hostTime(5)))
        try singer.run(until: 5.5)
        singer.order(.resume(at: SingerRig.hostTime(6)))
        try singer.run(until: 8)
        // Four seconds of the song are sung again.
        try singer.start(at: 8.2, position: 3)
        try singer.run(until: 9.9)
        singer.output.next += 517
        try singer.run(until: 16)
        singer.finish()
        return singer
    }

    /// Two devices, later one that captures and plays.
    private func ben() throws -> SingerRig {
        let singer = SingerRig(
            song: Self.songLength,
            output: Card(firstFrame: 77, partsPerMillion: 10, latency: (0, 0.0213), change: (200_000, -50)),
            input: Card(firstFrame: -5_000, partsPerMillion: -150, latency: (0.0071, 0), change: (300_000, 50)))
        singer.isLoopUsed = false
        try singer.run(until: 0.5)
        try singer.start(at: 1, position: 0)
        try singer.run(until: 8)
        singer.exchange(
            for: Card(firstFrame: 9_000_000, origin: 8.25, partsPerMillion: -140, latency: (128, 700)))
        try singer.start(at: 8.5, position: 7.5)
        try singer.run(until: 15)
        singer.finish()
        return singer
    }

    private func check(_ singer: SingerRig, gaps: Int, pieces: Int) throws {
        let folder = try TemporaryFolder()
        let path = try singer.writeTake(to: folder.path)
        let take = try Take(path: path)
        #expect(!take.isTorn)
        #expect(take.map.pieces.count <= pieces)
        // Each frame of the take has the position that was heard, but for the frames around a jump.
        var (largest, wrongCount) = (0.0, 0)
        for (frame, truth) in singer.truth.enumerated() {
            let position = take.map.position(at: Int64(frame))?.frames
            if let position, let truth, abs(position - truth) < 1 {
                largest = max(largest, abs(position - truth))
            } else if (position == nil) != (truth == nil) || position != nil {
                wrongCount += 1
            }
        }
        #expect(largest < 0.002, "frames")
        #expect(singer.largestError < 2e-3, "the ring has the sound of its map")
        let first = try #require(singer.firstHeard)
        // The order was for the second 1; a card's frame is 21 µs.
        #expect(first.position == 0 && abs(first.time - 1) < 15e-6)
        #expect(wrongCount <= 12)

        let (residue, gapCount) = try singer.residue(ofTake: path)
        #expect(gapCount == gaps)
        print("residue \(residue) dB, \(take.map.pieces.count) pieces, largest error \(largest) frames")
        #expect(residue < -80, "dB")
    }

    @Test func `a take with an underrun, a pause, a seek and a dropout lines up`() throws {
        // Gaps: the underrun's frames were sung again, the dropout's are missing, and the song's end was not sung.
        try check(anna(), gaps: 2, pieces: 120)
    }

    @Test func `a take of two devices that drift and are exchanged lines up`() throws {
        try check(ben(), gaps: 2, pieces: 120)
    }

    /// The greatest error of a take's positions in frames, and the pieces of its map.
    private func error(of singer: SingerRig) -> (frames: Double, pieceCount: Int) {
        error(of: singer, singer.map)
    }

    private func error(of singer: SingerRig, _ map: SongMap) -> (frames: Double, pieceCount: Int) {
        var largest = 0.0
        for (frame, truth) in singer.truth.enumerated() {
            guard let position = map.position(at: Int64(frame))?.frames, let truth else { continue }
            largest = max(largest, abs(position - truth))
        }
        return (largest, map.pieces.count)
    }

    /// A rate that changes at once is known after some seconds: the loops have a memory of 5 s. A killed program leaves this map.
    @Test(arguments: [(change: 0.0, limit: 1.0), (50, 6)])
    func `two devices whose callbacks jitter by 0.3 ms line up`(change: Double, limit: Double) throws {
        let singer = SingerRig(
            song: Self.songLength, output: Card(firstFrame: 77, partsPerMillion: 10, latency: (0, 0.0213)),
            input: Card(
                firstFrame: -5_000, partsPerMillion: -150, latency: (0.0071, 0), change: (960_000, change)),
            jitter: 0.000_3)
        // A call lasts for a while before a song begins.
        try singer.run(until: 12)
        try singer.start(at: 12.5, position: 0)
        try singer.run(until: 29)
        singer.finish()
        let first = error(of: singer, SingerRig.map(singer.firstEntries))
        let error = error(of: singer)
        print("jitter, \(change) ppm: largest error \(error.frames) frames, \(error.pieceCount) pieces; first \(first)")
        #expect(error.frames < 0.8 && error.pieceCount < 120)
        #expect(first.frames < limit && first.pieceCount < 400 && first.pieceCount > 0)
    }

    @Test(arguments: [8_000.0, 384_000]) func `a song of the lowest and of the highest rate has a map`(rate: Double)
        throws
    {
        let singer = SingerRig(
            song: Int(4 * rate), songRate: rate,
            output: Card(firstFrame: 0, partsPerMillion: 0, latency: (100, 200)),
            sings: { 0.3 * sin(2 * .pi * 220 * $0) })
        singer.source.setCorrection(0.001)
        try singer.start(at: 0.2, position: 0)
        try singer.run(until: 3)
        singer.finish()
        #expect(singer.truth.count { $0 != nil } > 100_000)
        #expect(error(of: singer).frames < 0.02 && error(of: singer).pieceCount > 0)
        #expect(singer.largestError < 2e-3)
    }
}
