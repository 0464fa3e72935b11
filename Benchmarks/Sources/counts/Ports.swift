// SPDX-License-Identifier: Apache-2.0

import Foundation

@testable import EarshotAudioBase
@testable import EarshotAudioDevices
@testable import EarshotCall
@testable import EarshotMediaTransport

/// Calls of two in real time over loopback, with simulated cards half a block apart: how often the port's thread wakes up and
/// makes system calls. Run it in slowed time (Benchmarks/lab/slow.c), where a pause of the machine is short.
enum Ports {
    private static let rate = 48_000.0
    private static let block = 128
    private static let settling = 1.0
    private static let seconds = 3.0

    static func count() throws {
        try call("a call of 2, PCM, 128 frames", framesPerPacket: 128) { $0.codec = .pcm }
        try call("a call of 2, Opus, 10 ms", framesPerPacket: 480) { $0.codec = .opus }
    }

    private static func call(
        _ name: String, framesPerPacket: Int, _ change: (inout CallPreferences) -> Void
    ) throws {
        var preferences = CallPreferences(opusFrameMilliseconds: 10, deviceRate: rate, deviceBlock: block)
        change(&preferences)
        let identities = try (0..<2).map { _ in try Identity.generate(at: 1_800_000_000) }
        let devices = try (0..<2).map { _ in
            try SimulatedDevice(SimulatedCard.Configuration(sampleRate: rate, blockFrameCount: block))
        }
        let sessions = devices.enumerated().map { CallSession(preferences, device: $1, cname: "end \($0)") }
        let ports = try zip(identities, sessions).map {
            try MediaPort(identity: $0, address: .loopback, port: 0, client: $1.client)
        }
        for port in ports { require(port.start(), "no thread") }
        try connect(ports, sessions, identities)
        try sessions[0].start()
        try start(sessions[1], devices[1].card, halfABlockAfter: devices[0].card)
        defer {
            for session in sessions { session.stop() }
            for port in ports { port.stop() }
        }
        sleep(settling)
        let peers = [PeerID(1), PeerID(0)]
        for (session, peer) in zip(sessions, peers) {
            require(session.statistics(of: peer)?.playout.isStarted ?? false, "the other is not heard")
        }
        let before = ports.map(\.work)
        sleep(seconds)
        let after = ports.map(\.work)
        for (session, peer) in zip(sessions, peers) {
            require(session.statistics(of: peer)?.playout.missingPackets == 0, "packets were lost")
        }
        var (waits, signals, sends, receives, packets) = (0, 0, 0, 0, 0.0)
        for (a, b) in zip(before, after) {
            waits += b.waits - a.waits
            signals += b.signals - a.signals
            sends += b.sends - a.sends
            receives += b.receives - a.receives
            packets += b.time.seconds(since: a.time) * rate / Double(framesPerPacket)
        }
        for (word, count) in [("waits", waits), ("signals", signals), ("sends", sends), ("receives", receives)] {
            print("\(name)\t\(word)\t\(Double(count) / packets)")
        }
    }

    private static func connect(_ ports: [MediaPort], _ sessions: [CallSession], _ identities: [Identity]) throws {
        var generator = SystemRandomNumberGenerator()
        let credentials = (0..<2).map { _ in ICECredentials.random(using: &generator) }
        func remote(_ end: Int, _ role: DTLSRole) -> RemoteTransportParameters {
            RemoteTransportParameters(
                credentials: credentials[end],
                candidates: ICECandidate.hosts([.loopback], port: ports[end].localAddress.port),
                certificate: identities[end].certificateFingerprint, dtlsRole: role)
        }
        ports[0].add(PeerID(1), LocalTransportParameters(role: .controlling, credentials: credentials[0]))
        ports[1].add(PeerID(0), LocalTransportParameters(role: .controlled, credentials: credentials[1]))
        let offer = try sessions[0].offer(to: PeerID(1))
        let answer = try sessions[1].answer(offer, from: PeerID(0))
        try sessions[0].accept(answer, from: PeerID(1))
        ports[1].setRemote(remote(0, .client), of: PeerID(0))
        ports[0].setRemote(remote(1, .server), of: PeerID(1))
    }

    /// Starts the second card half a block after a callback of the first: if both had callbacks at the same time, one wake-up
    /// would serve captured and received sound. On a busy machine the start may be late; then it is repeated.
    private static func start(_ session: CallSession, _ card: SimulatedCard, halfABlockAfter other: SimulatedCard)
        throws
    {
        let period = Double(block) / rate
        let begin = 0.005  // from the start to the first call
        for attempt in 1...200 {
            guard let start = other.firstInputFrameTime else { break }
            let soon = HostTime.now().advanced(bySeconds: begin + period).seconds(since: start) / period
            let due = start.advanced(bySeconds: (soon.rounded(.up) + 0.5) * period - begin)
            sleep(due.seconds(since: .now()))
            try session.start()
            let phase = (card.firstInputFrameTime?.seconds(since: start) ?? 0) / period
            if (0.35...0.65).contains(phase - phase.rounded(.down)) { return print("# started at attempt \(attempt)") }
            session.stop()
        }
        require(false, "the second card does not start when it should")
    }

    private static func sleep(_ seconds: Double) { usleep(useconds_t(max(0, seconds) * 1e6)) }
}
