import EarshotMediaTransport
import Foundation
import TestSupport
import TestTraits
import Testing

@testable import EarshotSimulation

/// The long runs of `scripts/bench stack`: `EARSHOT_STACK_DAYS` of rooms without sound, a seed each, and `EARSHOT_STACK_CALLS` of
/// ten minutes with sound, a seed each. `EARSHOT_STACK_FIRST` is the first seed.
@Suite(.optimized) struct StackFigureTests {
    private static func number(_ name: String) -> UInt64? {
        ProcessInfo.processInfo.environment["EARSHOT_STACK_\(name)"].flatMap(UInt64.init)
    }

    private static let days = number("DAYS") ?? 0
    private static let calls = number("CALLS") ?? 0
    private static let first = number("FIRST") ?? 1

    /// Runs many seeds and prints their sum.
    private func sum(
        _ name: String, _ count: UInt64, seconds: Double, _ form: (UInt64) -> StackSimulation.Configuration
    ) throws {
        var sum = StackSimulation.Report()
        var (settlings, disturbances, datagrams) = (0, 0, 0)
        for seed in Self.first..<Self.first + count {
            var configuration = form(seed)
            configuration.seed = seed
            configuration.keepsLines = true
            configuration.violationLimit = 1
            let simulation = try StackSimulation(configuration)
            simulation.run(until: seconds)
            let report = simulation.report
            if !report.violations.isEmpty { print(simulation.lines.suffix(80).joined(separator: "\n")) }
            #expect(report.violations.isEmpty, "\(report.violations)")
            sum.seconds += report.seconds
            sum.longestSettling = max(sum.longestSettling, report.longestSettling)
            (settlings, disturbances) = (settlings + report.settlings, disturbances + report.disturbances)
            datagrams += report.datagrams
            sum.violations += report.violations
            print("stack run: \(name), seed \(seed), outcome \(String(report.outcome, radix: 16))")
        }
        print(
            "stack figure: \(count) runs \(name), seeds \(Self.first) to \(Self.first + count - 1),",
            "\((sum.seconds / 8_640).rounded() / 10) days: \(disturbances) disturbances, all agreed and were connected",
            "\(settlings) times, after \((sum.longestSettling * 10).rounded() / 10) s at most; \(datagrams) datagrams;",
            "\(sum.violations.count) promises broken")
    }

    @Test(.enabled(if: days > 0)) func `days of rooms without sound break nothing`() throws {
        try sum("of a day without sound", Self.days, seconds: 86_400) { seed in
            var configuration = StackSimulation.Configuration()
            configuration.memberCount = seed % 8 == 0 ? 5 : 2 + Int(seed % 3)
            configuration.encodedShare = 16
            if seed % 2 == 0 { configuration.policy = .ask }
            return configuration
        }
    }

    @Test(.enabled(if: calls > 0)) func `calls of ten minutes break nothing`() throws {
        try sum("of 10 min with sound", Self.calls, seconds: 600) { seed in
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
