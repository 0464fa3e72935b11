// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import Foundation
import TestSupport
import TestTraits
import Testing

@testable import EarshotSimulation

/// The long runs of `scripts/bench stack`: `EARSHOT_STACK_DAYS` of rooms without sound and `EARSHOT_STACK_CALLS` of ten minutes
/// with sound. Each gives the first and the last seed: `1-365`.
@Suite(.optimized) struct StackFigureTests {
    private static func seeds(_ name: String) -> ClosedRange<UInt64>? {
        let ends =
            ProcessInfo.processInfo.environment["EARSHOT_STACK_\(name)"]?.split(separator: "-").compactMap {
                UInt64($0)
            } ?? []
        return ends.count == 2 && ends[0] <= ends[1] ? ends[0]...ends[1] : nil
    }

    private static let days = seeds("DAYS")
    private static let calls = seeds("CALLS")

    /// Runs each seed and prints its line of docs/figures/stack-runs.csv at once, so that a run may be stopped.
    private func run(
        _ name: String, _ seeds: ClosedRange<UInt64>, seconds: Double, _ form: (UInt64) -> StackSimulation.Configuration
    ) throws {
        for seed in seeds {
            var configuration = form(seed)
            configuration.seed = seed
            configuration.keepsLines = true
            configuration.violationLimit = 1
            let simulation = try StackSimulation(configuration)
            simulation.run(until: seconds)
            let report = simulation.report
            if !report.violations.isEmpty { print(simulation.lines.suffix(80).joined(separator: "\n")) }
            #expect(report.violations.isEmpty, "\(report.violations)")
            let settling = (report.longestSettling * 10).rounded() / 10
            print(
                "stack run: \(name),\(seed),\(configuration.memberCount),\(Int(report.seconds)),\(report.disturbances),"
                    + "\(report.settlings),\(settling),\(report.datagrams),\(report.violations.count),"
                    + String(report.outcome, radix: 16))
            fflush(nil)
        }
    }

    @Test(.enabled(if: days != nil)) func `day-long rooms without sound violate no invariant`() throws {
        try run("day", try #require(Self.days), seconds: 86_400) { seed in
            var configuration = StackSimulation.Configuration()
            configuration.memberCount = seed % 8 == 0 ? 5 : 2 + Int(seed % 3)
            configuration.encodedShare = 16
            if seed % 2 == 0 { configuration.policy = .ask }
            return configuration
        }
    }

    @Test(.enabled(if: calls != nil)) func `ten-minute calls violate no invariant`() throws {
        try run("call", try #require(Self.calls), seconds: 600) { seed in
            var configuration = StackSimulation.Configuration()
            configuration.hasSound = true
            configuration.memberCount = seed % 20 == 0 ? 4 : seed % 3 == 0 ? 3 : 2
            configuration.sampleRate = seed % 5 == 0 ? 48_000 : 16_000
            if seed % 10 == 1 { configuration.codec = .opus }
            if seed % 2 == 0 { configuration.policy = .ask }
            configuration.trouble = StackSimulation.Trouble(
                quiet: 5...40, count: 4, length: 15, duration: 0.2...15)
            configuration.encodedShare = 16
            return configuration
        }
    }
}
