// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Foundation

@testable import EarshotClockSync
@testable import EarshotSimulation

/// A host's clock on virtual time.
struct SimulatedHostClock {
    /// Nanoseconds at the start.
    var start: Int64 = 3_000_000_000_000
    /// The constant difference from nominal, in parts per million.
    var ppm = 0.0
    /// The amplitude of a rate that wanders with a period of ten minutes, in parts per million.
    var wanderPPM = 0.0
    /// The steps of the clock in seconds, from a time in seconds on.
    var steps: [(at: Double, by: Double)] = []

    func time(at now: Int64) -> HostTime {
        let seconds = Double(now) * 1e-9
        let angle = 2 * Double.pi * seconds / 600
        var ahead = ppm * 1e-6 * seconds + wanderPPM * 1e-6 * (1 - cos(angle)) * 600 / (2 * Double.pi)
        for step in steps where step.at <= seconds { ahead += step.by }
        return HostTime(nanoseconds: start + now).advanced(bySeconds: ahead)
    }
}

/// Two hosts that send each other packets at 48 kHz over simulated paths. One of them estimates the other's clock.
struct ClockRig {
    var sync = ClockSync()
    var outgoing: SimulatedLink
    var incoming: SimulatedLink
    var clock = SimulatedHostClock()
    var peerClock: SimulatedHostClock
    /// Changes the reports on their way.
    var forge: (ClockReport) -> ClockReport = { $0 }
    /// Nanoseconds since the start.
    private(set) var now: Int64 = 0

    private var peer = ClockSync()
    /// The frames of the packets that we send, and that the peer sends.
    private let packetFrames: (ours: Int, theirs: Int)
    private var turnFrames: Int { min(packetFrames.ours, packetFrames.theirs) }
    private var turn = 0
    private let phase: Int64
    private var ourInbox: [(at: Int64, sent: UInt32)] = []
    private var peerInbox: [(at: Int64, sent: UInt32)] = []
    private var reports: [(at: Int64, report: ClockReport)] = []

    init(
        _ network: NetworkProfile, back: NetworkProfile? = nil, seed: Int, ppm: Double? = nil, wanderPPM: Double = 0,
        packetFrames: (ours: Int, theirs: Int) = (128, 128)
    ) {
        self.packetFrames = packetFrames
        var random = SeededRandom(seed: UInt64(seed))
        outgoing = SimulatedLink(network, seed: random.next())
        incoming = SimulatedLink(back ?? network, seed: random.next())
        phase = Int64(random.unit() * 2e6)
        peerClock = SimulatedHostClock(
            start: Int64(random.unit() * 1e15), ppm: ppm ?? 200 * random.unit() - 100, wanderPPM: wanderPPM)
        // A start at any time between two stalls.
        turn = Int(random.unit() * 5 * 48_000) / min(packetFrames.ours, packetFrames.theirs)
        started = Self.time(ofFrame: turn * min(packetFrames.ours, packetFrames.theirs))
        now = started
    }

    /// The time of the first packet in nanoseconds.
    let started: Int64
    /// Seconds since the first packet.
    var elapsed: Double { Double(now - started) * 1e-9 }

    private static func time(ofFrame frame: Int) -> Int64 { Int64(Double(frame) * 1e9 / 48_000) }

    /// Runs until `elapsed` seconds after the first packet.
    mutating func run(until elapsed: Double) {
        while self.elapsed < elapsed {
            let back = now + phase
            let frame = turn * turnFrames
            if frame % packetFrames.ours == 0,
                let at = outgoing.send(byteCount: 300, isMedia: true, at: now).arrival
            {
                Self.insert((at, clock.time(at: now).wireMicroseconds), into: &peerInbox)
            }
            if frame % packetFrames.theirs == 0,
                let at = incoming.send(byteCount: 300, isMedia: true, at: back).arrival
            {
                Self.insert((at, peerClock.time(at: back).wireMicroseconds), into: &ourInbox)
            }
            turn += 1
            now = Self.time(ofFrame: turn * turnFrames)
            deliver()
            if let report = peer.takeReport(at: peerClock.time(at: now)),
                let at = incoming.send(byteCount: 60, isMedia: false, at: now).arrival
            {
                reports.append((at, forge(report)))
            }
            _ = sync.takeReport(at: clock.time(at: now))
        }
    }

    private static func insert(_ packet: (at: Int64, sent: UInt32), into inbox: inout [(at: Int64, sent: UInt32)]) {
        var place = inbox.count
        while place > 0, inbox[place - 1].at > packet.at { place -= 1 }
        inbox.insert(packet, at: place)
    }

    private mutating func deliver() {
        defer { if let first = ourInbox.first, first.at <= now { deliver() } }
        while let first = peerInbox.first, first.at <= now {
            peerInbox.removeFirst()
            peer.addPacket(sent: first.sent, arrived: peerClock.time(at: first.at))
        }
        while let first = ourInbox.first, first.at <= min(now, reports.first?.at ?? now) {
            ourInbox.removeFirst()
            sync.addPacket(sent: first.sent, arrived: clock.time(at: first.at))
        }
        while let first = reports.first, first.at <= now {
            reports.removeFirst()
            sync.noteOtherPacket(arrived: clock.time(at: first.at))
            sync.addReport(first.report, at: clock.time(at: first.at))
        }
    }

    /// The estimate and its error now in seconds; nil without an estimate.
    var outcome: Outcome? {
        guard let found = sync.peerClock else { return nil }
        let local = clock.time(at: now)
        let truth = peerClock.time(at: now)
        let error = found.peerTime(at: local).seconds(since: truth)
        var outcome = Outcome(
            error: abs(error), claim: found.symmetricUncertainty(at: local), bound: found.uncertainty(at: local))
        if let fit = sync.fit {
            let age = local.seconds(since: found.localReference)
            outcome.meanError = abs(error + fit.mean.offset - fit.offset + (fit.mean.rate - fit.rate) * age)
            outcome.boundsError = abs(error + fit.bounds.offset - fit.offset + (fit.bounds.rate - fit.rate) * age)
            if let ranks = fit.ranks {
                outcome.ranksError = abs(error + ranks.offset - fit.offset + (ranks.rate - fit.rate) * age)
            }
            outcome.usesBounds = fit.usesBounds
        }
        return outcome
    }
}

/// An estimate's error and its claims, in seconds.
struct Outcome {
    var error: Double
    var claim: Double  // if paths are alike
    var bound: Double  // whatever the path
    var meanError = Double.nan  // of `RobustMean` alone
    var boundsError = Double.nan  // of `PacketBounds` alone
    var ranksError = Double.nan  // of `RankLine` alone
    var usesBounds = false
}

extension [Outcome] {
    /// The 95th percentile of a value in milliseconds.
    func p95(_ value: KeyPath<Outcome, Double>) -> Double {
        let sorted = map { $0[keyPath: value] }.sorted()
        return sorted.isEmpty ? .nan : sorted[Swift.min(sorted.count - 1, sorted.count * 95 / 100)] * 1e3
    }

    /// The share of errors within a claim.
    func share(within claim: KeyPath<Outcome, Double>) -> Double {
        Double(count { $0.error <= $0[keyPath: claim] }) / Double(count)
    }

    /// Prints the figures as a row of a table, in milliseconds, if EARSHOT_FIGURES is set.
    func printRow(_ name: String, _ what: String) {
        guard ProcessInfo.processInfo.environment["EARSHOT_FIGURES"] != nil else { return }
        let figures = [
            p95(\.error), p95(\.boundsError), p95(\.meanError), p95(\.ranksError), p95(\.claim), p95(\.bound),
        ]
        .map { String(format: $0 < 0.1 ? "%.4f" : $0 < 100 ? "%.2f" : "%.0f", $0) }
        let shares = [share(within: \.claim), share(within: \.bound)].map { String(format: "%.2f", $0) }
        let used = "\(count { $0.usesBounds }) of \(count)"
        print("clock figure: | " + ([name + ", " + what] + figures + shares + [used]).joined(separator: " | ") + " |")
    }
}

extension NetworkProfile {
    /// Returns the network with a longer delay, in seconds; a negative one shortens it.
    func delayed(by seconds: Double) -> NetworkProfile {
        func later(_ range: ClosedRange<Double>) -> ClosedRange<Double> {
            range.lowerBound + seconds...range.upperBound + seconds
        }
        var profile = self
        profile.delay =
            switch delay {
            case .constant(let delay): .constant(delay + seconds)
            case .uniform(let range): .uniform(later(range))
            case .normal(let mean, let deviation, let range):
                .normal(mean: mean + seconds, deviation: deviation, within: later(range))
            case .gamma(let shape, let scale, let range): .gamma(shape: shape, scale: scale, within: later(range))
            }
        return profile
    }
}
