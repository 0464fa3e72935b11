// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import TestTraits
import Testing

@testable import EarshotSimulation

/// One disturbance at a time in a call of three on virtual time.
@Suite(.optimized) struct StackScenarioTests {
    private func call(
        _ disturbances: [(at: Double, Disturbance)] = [], members: Int = 3, defect: StackSimulation.Defect? = nil
    ) throws -> StackSimulation {
        var configuration = StackSimulation.Configuration()
        configuration.hasSound = true
        configuration.memberCount = members
        configuration.trouble = nil
        configuration.keepsLines = true
        configuration.settlingLimit = 20
        configuration.violationLimit = 1
        configuration.defect = defect
        let simulation = try StackSimulation(configuration)
        for (at, disturbance) in disturbances { simulation.schedule(disturbance, after: at) }
        return simulation
    }

    private func words(_ simulation: StackSimulation) -> String {
        "\(simulation.violations) \(simulation.disagreement ?? "")\n\(simulation.lines.joined(separator: "\n"))"
    }

    private func agree(_ simulation: StackSimulation, _ location: SourceLocation = #_sourceLocation) {
        #expect(
            simulation.violations.isEmpty && simulation.disagreement == nil, "\(words(simulation))",
            sourceLocation: location)
    }

    @Test func `eight members join within two seconds and hear each other by the fifth`() throws {
        let simulation = try call(members: 8)
        simulation.run(until: 5)
        agree(simulation)
        simulation.run(until: 12)
        agree(simulation)
        #expect(simulation.report.settlings == 1)
    }

    @Test func `another member hosts within three seconds after the host's process ends`() throws {
        let simulation = try call([(10, .crash(0, for: 10))])
        simulation.run(until: 13)
        #expect(simulation.lines.contains { $0.hasSuffix("hosts in epoch 2") }, "\(words(simulation))")
        simulation.run(until: 40)
        agree(simulation)
    }

    @Test(arguments: [0, 2]) func `all members hear each other three seconds after one changes its address`(
        member: Int
    ) throws {
        let simulation = try call([(10, .move(member, gap: 0.2))])
        simulation.run(until: 13.5)
        agree(simulation)
        simulation.run(until: 30)
        agree(simulation)
        #expect(!simulation.lines.contains { $0.contains("reconnects") }, "\(words(simulation))")
    }

    @Test func `a process can end while commands and events are pending`() throws {
        let simulation = try call()
        simulation.run(until: 10)
        for process in simulation.members.compactMap(\.process) {
            process.port.send([1], to: PeerID(1))
            process.port.setLocalAddresses(process.member.addresses)
        }
        for member in simulation.members { member.crash() }
        simulation.run(until: 11)
        #expect(simulation.members.allSatisfy { $0.process == nil })
    }

    @Test func `two peers that change address at once reconnect through the host's new announcement`() throws {
        let simulation = try call([(10, .move(0, gap: 8)), (10.5, .move(1, gap: 8))], members: 2)
        simulation.run(until: 21)
        #expect(simulation.lines.contains { $0.contains("reconnects") }, "\(words(simulation))")
        simulation.run(until: 30)
        agree(simulation)
    }

    @Test func `members still hear each other through 20 % packet loss`() throws {
        let simulation = try call([
            (10, .weather(loss: 0.2, delay: 0.02, duplication: 0.05, reordering: 0.05, for: 20))
        ])
        for second in 14..<30 {
            simulation.run(until: Double(second))
            #expect(simulation.disagreement == nil, "second \(second)")
        }
        simulation.run(until: 45)
        agree(simulation)
    }

    @Test(arguments: [1, 2]) func `a restarted member regains its place through its identity`(member: Int) throws {
        let simulation = try call([(10, .crash(member, for: 0.5))])
        simulation.run(until: 15)
        agree(simulation)
        let numbers = Set(
            simulation.lines.filter { $0.contains(" \(member) is in as") }.compactMap { $0.split(separator: " ").last })
        #expect(numbers.count == 1, "\(words(simulation))")
        simulation.run(until: 30)
        agree(simulation)
    }

    @Test func `the room agrees again after the host vanishes and a guest crashes at once`() throws {
        let simulation = try call([(10, .powerLoss(0, for: 4)), (10, .crash(2, for: 1))], members: 4)
        simulation.run(until: 45)
        agree(simulation)
    }

    /// The simulation must detect a broken product.
    @Test(arguments: [
        (StackSimulation.Defect.losesAnswers, Disturbance?.none, "no way from member"),
        (.neverReconnects, .crash(0, for: 5), "no agreement"), (.hidesMoves, .move(2, gap: 0.2), "no way from member"),
        (.losesSound, nil, "does not hear"), (.sendsClear, nil, "sound in clear"),
    ]) func `an injected defect is detected as a violation`(
        defect: StackSimulation.Defect, trouble: Disturbance?, violation: String
    ) throws {
        let simulation = try call(trouble.map { [(10, $0)] } ?? [], defect: defect)
        simulation.run(until: 60)
        let isFound = simulation.violations.contains { $0.text.contains(violation) }
        #expect(isFound, "\(words(simulation))")
    }
}
