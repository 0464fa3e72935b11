// SPDX-License-Identifier: Apache-2.0

import EarshotSimulation
import TestTraits
import Testing

@testable import EarshotClockSync

/// Steps of a clock, changed routes and asymmetric paths, over seeds. Rows are as in ``ClockSyncErrorTests``.
@Suite(.optimized) struct ClockSyncChangeTests {
    enum Change: String, CaseIterable {
        case shortStep = "clock steps by 3 ms"
        case longStep = "clock steps by -80 ms"
        case sleep = "clock steps by 2,000 s"
        case longerWayOut = "one way 8 ms longer"
        case shorterWayOut = "one way 0.8 ms shorter"
        case longerWays = "both ways 10 ms longer"
        case longerDifferently = "ways 12 and 5 ms longer"

        var step: Double {
            switch self {
            case .shortStep: 0.003
            case .longStep: -0.080
            case .sleep: 2_000
            default: 0
            }
        }
        var wayOut: Double {
            switch self {
            case .longerWayOut: 0.008
            case .shorterWayOut: -0.000_8
            case .longerWays: 0.010
            case .longerDifferently: 0.012
            default: 0
            }
        }
        var wayBack: Double { self == .longerWays ? 0.010 : self == .longerDifferently ? 0.005 : 0 }
    }

    static let networks: [NetworkProfile.Name] = [.lan, .wifiGood, .wifiCongested]

    @Test(arguments: networks, Change.allCases)
    func `after a change the error is within the uncertainty`(
        _ network: NetworkProfile.Name, _ change: Change
    ) {
        var soon: [Outcome] = []
        var later: [Outcome] = []
        for seed in 1...20 {
            var rig = ClockRig(NetworkProfile(network), seed: seed)
            rig.run(until: 12)
            rig.peerClock.steps = [(Double(rig.now) * 1e-9, change.step)]
            rig.outgoing.profile = rig.outgoing.profile.delayed(by: change.wayOut)
            rig.incoming.profile = rig.incoming.profile.delayed(by: change.wayBack)
            rig.run(until: 13)
            if let outcome = rig.outcome { soon.append(outcome) }
            rig.run(until: 18)
            if let outcome = rig.outcome { later.append(outcome) }
        }
        soon.printRow(network.rawValue, change.rawValue + ", 1 s")
        later.printRow(network.rawValue, change.rawValue + ", 6 s")
        #expect(soon.count == 20 && later.count == 20)
        #expect(soon.share(within: \.bound) >= 0.95)
        #expect(later.share(within: \.bound) >= 0.95)
    }

    @Test(arguments: [NetworkProfile.Name.lan, .wifiGood])
    func `a changed route raises the uncertainty until the estimate is corrected`(_ network: NetworkProfile.Name) throws
    {
        var rig = ClockRig(NetworkProfile(network), seed: 1)
        rig.run(until: 12)
        let before = try #require(rig.outcome)
        rig.outgoing.profile = rig.outgoing.profile.delayed(by: 0.010)
        rig.incoming.profile = rig.incoming.profile.delayed(by: 0.010)
        var greatest = 0.0
        for tenth in 121...129 {
            rig.run(until: Double(tenth) / 10)
            greatest = max(greatest, rig.outcome?.claim ?? 0)
        }
        #expect(greatest > before.claim + 0.008)
        rig.run(until: 18)
        let after = try #require(rig.outcome)
        #expect(after.claim < before.claim + 0.000_3)
        #expect(after.error < after.claim)
        #expect(after.bound > before.bound + 0.009)
    }

    @Test(arguments: networks) func `a longer way out shifts the estimate by half of it, within the uncertainty`(
        _ network: NetworkProfile.Name
    ) {
        var outcomes: [Outcome] = []
        for seed in 1...20 {
            var rig = ClockRig(NetworkProfile(network).delayed(by: 0.006), back: NetworkProfile(network), seed: seed)
            rig.run(until: 5)
            if let outcome = rig.outcome { outcomes.append(outcome) }
        }
        outcomes.printRow(network.rawValue, "way out 6 ms longer, 5 s")
        #expect(outcomes.count == 20)
        #expect(outcomes.share(within: \.bound) == 1)
        #expect(abs(outcomes.p95(\.error) - 3) < 1)
    }

    @Test func `where one way queues and the other does not, the error is within the uncertainty`() {
        var outcomes: [Outcome] = []
        for seed in 1...20 {
            var rig = ClockRig(.wifiCongested, back: .lan, seed: seed)
            rig.run(until: 5)
            if let outcome = rig.outcome { outcomes.append(outcome) }
        }
        outcomes.printRow("wifi-congested out, lan back", "5 s")
        #expect(outcomes.count == 20)
        #expect(outcomes.share(within: \.bound) == 1)
    }
}
