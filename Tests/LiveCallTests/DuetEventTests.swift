// SPDX-License-Identifier: Apache-2.0

import EarshotRooms
import Foundation
import TestTraits
import Testing

@testable import EarshotDuet
@testable import EarshotLiveCall
@testable import EarshotSimulation

/// The difference of two loudspeakers after a singer joins a song that plays, after a seek, and after a machine woke, in whole
/// calls on virtual time. `EARSHOT_FIGURES` prints the table of docs/figures/duet.md with its limits.
@Suite(.optimized) struct DuetEventTests {
    struct Limit: CustomTestStringConvertible, Sendable {
        let network: NetworkProfile.Name
        /// Milliseconds, the 95th percentiles 1 s and 10 s after an event, as wanted.
        let afterOne, afterTen: Double
        /// The same of this test, whose calls are few.
        let testedAfterOne, testedAfterTen: Double
        var testDescription: String { network.rawValue }
    }

    static let limits = [
        Limit(network: .lan, afterOne: 0.06, afterTen: 0.03, testedAfterOne: 0.07, testedAfterTen: 0.03),
        Limit(network: .wifiGood, afterOne: 0.6, afterTen: 0.2, testedAfterOne: 0.8, testedAfterTen: 0.4),
        Limit(network: .wifiCongested, afterOne: 1.5, afterTen: 0.5, testedAfterOne: 2, testedAfterTen: 1.5),
    ]
    /// Seconds from a join or a wake-up until the song is heard in place.
    private static let latestEntry = 2.5
    private static let makesFigures = ProcessInfo.processInfo.environment["EARSHOT_FIGURES"] != nil

    @Test(arguments: limits)
    func `two loudspeakers are together after a join, a seek and a wake-up`(limit: Limit) throws {
        let beat = SongFile.describe(Beat(tempo: 96), duration: 2_000)
        let (join, seek, wake) = (2.0, 30.0, 47.0)
        let moments = [join + 1, join + 10, seek + 1, seek + 10, wake + 1, wake + 10]
        var errors: [[Double]] = moments.map { _ in [] }
        var (joinTimes, wakeTimes): ([Double], [Double]) = ([], [])
        for seed in 1...UInt64(Self.makesFigures ? 40 : 5) {
            let rig = try DuetStartRig(
                seed: seed, network: NetworkProfile(limit.network), beat, arrival: join, sleep: wake - 5..<wake
            ) { SongPlayer(beat.countIn, duration: beat.duration, channelCount: 1, deviceRate: 48_000) }
            try rig.playAlone()
            for (index, moment) in moments.enumerated() {
                switch index {
                case 0:
                    try rig.run(until: join)
                    joinTimes.append(try #require(try rig.timeUntilTogether(), "seed \(seed)"))
                case 2:
                    try rig.run(until: seek)
                    try rig.duets[1].core?.seek(to: 300, at: rig.local(1))
                case 4:
                    try rig.run(until: wake)
                    wakeTimes.append(try #require(try rig.timeUntilTogether(), "seed \(seed)"))
                default: break
                }
                errors[index].append(try #require(try rig.difference(from: moment), "seed \(seed), \(moment) s") * 1e3)
            }
        }
        let p95 = errors.map { $0.sorted()[Int((0.95 * Double($0.count)).rounded(.up)) - 1] }
        let figures = p95.map { String(format: "%.3f", $0) }.joined(separator: " | ")
        print("duet event figure: | \(limit.network.rawValue) | \(limit.afterOne); \(limit.afterTen) | \(figures) |")
        let times = [joinTimes, wakeTimes].map { $0.sorted() }.flatMap { [$0[$0.count / 2], $0[$0.count - 1]] }
        let entries = times.map { String(format: "%.2f", $0) }.joined(separator: " | ")
        print("duet entry figure: | \(limit.network.rawValue) | \(entries) |")
        #expect(times.allSatisfy { $0 < Self.latestEntry }, "\(times)")
        for (index, error) in p95.enumerated() {
            #expect(error < (index % 2 == 0 ? limit.testedAfterOne : limit.testedAfterTen), "\(p95)")
        }
    }
}
