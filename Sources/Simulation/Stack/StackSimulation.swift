// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotCall
import EarshotMediaTransport
import EarshotRooms

/// A room of two to eight members on virtual time, from a seed: the product's own room, negotiation, ICE, DTLS, SRTP and calls,
/// on simulated machines, connections and datagrams, with disturbances from the seed.
///
/// ```swift
/// let simulation = try StackSimulation(StackSimulation.Configuration())
/// simulation.run(until: 3_600)
/// print(simulation.report)
/// ```
/// The same configuration gives the same outcome, with different keys. For one thread at a time.
package final class StackSimulation {
    /// The port of all members, for TCP and UDP.
    static let port: UInt16 = 47_400
    /// The allowed number of members.
    package static let memberCounts = 2...8

    /// The configuration.
    package let configuration: Configuration
    /// The broken promises of the product.
    package private(set) var violations: [Violation] = []
    /// The lines of the log, if they are kept.
    package private(set) var lines: [String] = []

    let start = HostTime(nanoseconds: 5_000_000_000)
    private(set) var now: HostTime
    var agenda = Agenda()
    var random: SeededRandom
    private(set) var members: [SimulatedMember] = []
    let network: StackNetwork
    private(set) var signalling: SignallingNetwork!
    var watch = StackWatch()
    var trouble: StackTrouble
    private var hash: UInt64 = 0xCBF2_9CE4_8422_2325

    /// - Throws: ``SimulationError``; errors of identities, devices and codecs.
    package init(_ configuration: Configuration) throws {
        guard Self.memberCounts.contains(configuration.memberCount) else {
            throw SimulationError.peerCount(configuration.memberCount)
        }
        self.configuration = configuration
        now = start
        random = SeededRandom(seed: configuration.seed)
        trouble = StackTrouble(seed: random.next())
        network = StackNetwork(machineCount: configuration.memberCount, configuration.network, at: start, &random)
        signalling = SignallingNetwork(self, seed: random.next())
        SRTPSession.prepare()
        for index in 0..<configuration.memberCount {
            let member = try SimulatedMember(index, self, seed: random.next())
            members.append(member)
            after(index == 0 ? 0 : 2 * random.unit()) { [self] in start(member) }
            after(0.05 + 0.5 * random.unit()) { member.live() }
        }
        disturbed(for: 2)
        if let form = configuration.trouble, let begin = form.begin { after(begin) { [self] in beginEpisode(form) } }
        after(0.5) { [self] in checkMembers() }
    }

    /// The elapsed seconds.
    package var elapsed: Double { now.seconds(since: start) }

    /// The hash of all lines of the log, which contain no keys.
    package var outcome: UInt64 { hash }

    /// Runs until this second, or until too many promises are broken.
    package func run(until seconds: Double) {
        let end = start.advanced(bySeconds: seconds)
        while violations.count < configuration.violationLimit {
            var next = network.nextArrival
            if let planned = agenda.next { next = min(next, planned) }
            for member in members { if let process = member.process { next = min(next, process.nextTime) } }
            if next > end { break }
            now = max(now, next)
            step()
        }
        if violations.count < configuration.violationLimit { now = max(now, end) }
    }

    /// Delivers datagrams, executes the planned work that is due, then runs each member's process.
    private func step() {
        network.deliver(at: now) { machine, datagram, source, local in
            members[machine].process?.port.receive(datagram, from: source, to: local)
        }
        while let body = agenda.removeFirst(dueBy: now) { body() }
        for member in members { member.process?.run() }
    }

    func start(_ member: SimulatedMember) {
        do {
            try member.start()
        } catch {
            violate("member \(member.index) does not start: \(error)")
        }
    }

    func after(_ seconds: Double, _ body: @escaping () -> Void) {
        agenda.add(now.advanced(bySeconds: seconds), body)
    }

    func reaches(_ a: Int, _ b: Int) -> Bool {
        network.isConnected(a, b) && !members[a].addresses.isEmpty && !members[b].addresses.isEmpty
    }

    // MARK: Outcome

    func log(_ member: Int?, _ text: String) {
        let line = "\((now.nanoseconds - start.nanoseconds) / 1_000) \(member.map { "\($0)" } ?? "-") \(text)"
        for byte in line.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        if configuration.keepsLines { lines.append(line) }
    }

    func violate(_ text: String) {
        log(nil, "violation: \(text)")
        violations.append(Violation(seed: configuration.seed, seconds: elapsed, text: text))
    }
}

extension StackSimulation {
    /// A broken promise of the product.
    package struct Violation: Hashable, Sendable, CustomStringConvertible {
        package let seed: UInt64
        /// The seconds since the beginning.
        package let seconds: Double
        package let text: String

        package var description: String { "seed \(seed), \(seconds) s: \(text)" }
    }

    /// A summary of a run.
    package struct Report: Hashable, Sendable {
        package var seconds = 0.0
        /// The disturbances so far.
        package var disturbances = 0
        /// The number of times that all members agreed and were connected after disturbances.
        package var settlings = 0
        /// The maximum seconds from the end of the last disturbance until all members agreed and were connected.
        package var longestSettling = 0.0
        package var datagrams = 0
        package var outcome: UInt64 = 0
        package var violations: [Violation] = []
    }

    /// The summary so far.
    package var report: Report {
        Report(
            seconds: elapsed, disturbances: trouble.count, settlings: watch.settlings,
            longestSettling: watch.longestSettling, datagrams: network.sent, outcome: outcome, violations: violations)
    }
}

extension MemberProcess {
    /// The time of the process's next work.
    var nextTime: HostTime { min(due, port.due, sound?.nextCallTime ?? .never) }
}
