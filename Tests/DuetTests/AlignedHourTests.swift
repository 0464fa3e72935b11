// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Foundation
import TestTraits
import Testing

@testable import EarshotDuet

/// Takes on cards 300 ppm apart whose rates change by 50 ppm in mid-take, in a duet over congested Wi-Fi: the song's rate changes
/// five times a second, the network is away for a while, one device is exchanged, and a passage is sung again. `EARSHOT_FIGURES`
/// sings for an hour and prints the table of docs/figures/duet.md.
@Suite(.optimized) struct AlignedHourTests {
    enum Singer: String, CaseIterable, Sendable, CustomTestStringConvertible {
        case oneDevice = "one device, 150 ppm fast, then 200"
        case exchanged = "one device, 150 ppm slow, then 200; another one from the middle on"
        case twoDevices = "two devices with exact times, 160 ppm apart, then 210"
        case twoJittering = "two devices whose callbacks jitter by 0.3 ms"
        var testDescription: String { rawValue }
    }
    private static let makesFigures = ProcessInfo.processInfo.environment["EARSHOT_FIGURES"] != nil
    private static let minutes = makesFigures ? 60.0 : 1

    private func rig(_ singer: Singer, seconds: Double) -> SingerRig {
        let (length, middle) = (Int(seconds * SingerRig.songRate), seconds / 3 * Card.nominalRate)
        let output = Card(firstFrame: 77, partsPerMillion: 10, latency: (0, 0.0213))
        let input = Card(
            firstFrame: -5_000, partsPerMillion: -150, latency: (0.0071, 0), change: (middle, -50))
        return switch singer {
        case .oneDevice:
            SingerRig(
                song: length,
                output: Card(firstFrame: 1_000, partsPerMillion: 150, latency: (312, 421), change: (middle, 50)))
        case .exchanged:
            SingerRig(
                song: length, output: Card(partsPerMillion: -150, latency: (128, 700), change: (middle, -50)))
        case .twoDevices: SingerRig(song: length, output: output, input: input)
        case .twoJittering: SingerRig(song: length, output: output, input: input, jitter: 0.000_3)
        }
    }

    /// Runs a singer, whose song changes its rate as it follows the group's time over congested Wi-Fi.
    private func run(_ rig: SingerRig, until end: Double, _ time: inout Double, _ random: inout SeededRandom) throws {
        while time < end {
            time = min(end, time + 0.2)
            rig.source.setCorrection(400e-6 * random.unit() - 200e-6)
            try rig.run(until: time)
        }
    }

    @Test(arguments: Singer.allCases) func `a take lines up with the song, and nothing is missing`(singer: Singer)
        throws
    {
        let seconds = 60 * Self.minutes
        let rig = rig(singer, seconds: seconds)
        (rig.isLong, rig.isLoopUsed) = (true, singer == .twoJittering)
        var random = SeededRandom(seed: 7)
        var time = 0.0
        try run(rig, until: 12, &time, &random)
        try rig.start(at: 12.5, position: 0)
        try run(rig, until: 12.5 + seconds / 2, &time, &random)
        // Without the network the song goes on.
        try rig.run(until: time + 5)
        time += 5
        if singer == .exchanged {
            let card = Card(
                firstFrame: 9_000_000, origin: time + 0.25, partsPerMillion: -140, latency: (64, 300))
            rig.exchange(for: card)
        }
        // Four seconds are sung again, and with them those without a device.
        try rig.start(at: time + 1, position: time - 12.5 - 4)
        try run(rig, until: seconds + 20, &time, &random)
        rig.finish()

        let map = rig.map
        var (largest, wrongCount, index) = (0.0, 0, 0)
        for (frame, truth) in rig.sparseTruth {
            let frame = Int64(frame)
            while index < map.pieces.count, map.pieces[index].end <= frame { index += 1 }
            guard index < map.pieces.count, map.pieces[index].frame <= frame else {
                wrongCount += 1
                continue
            }
            let error = abs(map.pieces[index].position(at: frame).frames - truth)
            if error < 100 { largest = max(largest, error) } else { wrongCount += 1 }
        }
        let folder = try TemporaryFolder()
        let (residue, gaps) = try rig.residue(ofTake: try rig.writeTake(to: folder.path))
        let figures = String(format: "%.4f | %.0f | %d | %d", largest, residue, gaps, map.pieces.count)
        print("aligned figure: | \(singer.rawValue) | \(figures) |")
        // A frame at the jump may belong to either side.
        #expect(wrongCount <= 2)
        #expect(gaps == 0 && rig.sparseTruth.count > Int(seconds * 700))
        // Two lines by least squares through the callbacks of an hour that jitter by 0.3 ms would leave -62 dB.
        #expect(largest < 1 && residue < (singer == .twoJittering ? -40 : -80))
    }
}
