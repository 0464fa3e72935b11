// SPDX-License-Identifier: Apache-2.0

import EarshotSimulation
import TestTraits
import Testing

@testable import EarshotClockSync

/// The errors of estimates on symmetric networks, over seeds. `scripts/bench clock` prints a row for each: the 95th percentiles in
/// milliseconds of the error, of the errors of the three estimators alone, and of the two uncertainties; then the shares of errors
/// within those.
@Suite(.optimized) struct ClockSyncErrorTests {
    struct Limits {
        var network: NetworkProfile.Name
        var afterOne: Double  // milliseconds
        var afterTen: Double
        var always: Double
    }
    static let limits = [
        Limits(network: .lan, afterOne: 0.05, afterTen: 0.01, always: 0.02),
        Limits(network: .wifiGood, afterOne: 0.6, afterTen: 0.27, always: 0.14),
        Limits(network: .wifiCongested, afterOne: 1, afterTen: 0.5, always: 0.35),
    ]

    @Test(arguments: limits) func `the error 1 s and 10 s after the first packet, at up to 100 ppm`(_ limits: Limits) {
        var afterOne: [Outcome] = []
        var afterTen: [Outcome] = []
        for seed in 1...100 {
            var rig = ClockRig(NetworkProfile(limits.network), seed: seed)
            rig.run(until: 1)
            if let outcome = rig.outcome { afterOne.append(outcome) }
            rig.run(until: 10)
            if let outcome = rig.outcome { afterTen.append(outcome) }
        }
        afterOne.printRow(limits.network.rawValue, "1 s after joining")
        afterTen.printRow(limits.network.rawValue, "10 s after joining")
        #expect(afterOne.count == 100 && afterTen.count == 100)
        #expect(afterOne.p95(\.error) < limits.afterOne)
        #expect(afterTen.p95(\.error) < limits.afterTen)
        for outcomes in [afterOne, afterTen] {
            #expect(outcomes.share(within: \.claim) >= 0.92)
            #expect(outcomes.share(within: \.bound) == 1)
        }
    }

    @Test(arguments: limits) func `packets of another length one way do not move the estimate`(_ limits: Limits) {
        for frames in [(ours: 64, theirs: 256), (ours: 256, theirs: 64)] {
            var outcomes: [Outcome] = []
            for seed in 1...40 {
                var rig = ClockRig(NetworkProfile(limits.network), seed: seed, packetFrames: frames)
                rig.run(until: 10)
                if let outcome = rig.outcome { outcomes.append(outcome) }
            }
            outcomes.printRow(limits.network.rawValue, "packets of \(frames.ours) and \(frames.theirs) frames, 10 s")
            #expect(outcomes.count == 40)
            #expect(outcomes.p95(\.error) < 1.4 * limits.afterTen)
            #expect(outcomes.share(within: \.bound) == 1)
        }
    }

    @Test(arguments: limits) func `the error at any moment of an hour, with a rate that wanders`(_ limits: Limits) {
        var outcomes: [Outcome] = []
        for seed in 1...2 {
            var rig = ClockRig(NetworkProfile(limits.network), seed: seed, ppm: seed == 1 ? 100 : -100, wanderPPM: 2)
            for second in 10...1_800 {
                rig.run(until: Double(second))
                if let outcome = rig.outcome { outcomes.append(outcome) }
            }
        }
        outcomes.printRow(limits.network.rawValue, "any moment of two half hours")
        #expect(outcomes.count == 2 * 1_791)
        #expect(outcomes.p95(\.error) < limits.always)
        #expect(outcomes.share(within: \.claim) >= 0.95)
        #expect(outcomes.share(within: \.bound) == 1)
    }
}
