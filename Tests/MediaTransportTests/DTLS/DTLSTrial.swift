// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import TestSupport

@testable import EarshotMediaTransport

/// Identities that tests share.
enum Peers {
    static let anna = Result { try Identity.generate(at: today) }
    static let bert = Result { try Identity.generate(hostNames: ["bert.local"], addresses: [.loopback], at: today) }
    /// With a certificate of several kilobytes, which needs several datagrams.
    static let stout = Result {
        try Identity.generate(
            hostNames: (0..<60).map { "host-\($0).of-a-domain-with-a-long-name.example" }, at: today)
    }
}

/// One side of a trial.
final class DTLSEnd {
    let session: DTLSSession
    var sent: [[UInt8]] = []
    var messages: [[UInt8]] = []

    init(_ role: DTLSRole, _ identity: Identity, peer: CertificateFingerprint, allowsCounterMode: Bool = false) throws {
        session = try DTLSSession(role: role, identity: identity, peer: peer, allowsCounterMode: allowsCounterMode)
    }

    func start(at now: HostTime) { session.start(at: now) { sent.append(Array($0)) } }

    func take(_ datagram: [UInt8], at now: HostTime) {
        datagram.withUnsafeBytes { bytes in
            session.receive(bytes, at: now) {
                sent.append(Array($0))
            } message: {
                messages.append(Array($0))
            }
        }
    }

    func tick(at now: HostTime) { session.tick(at: now) { sent.append(Array($0)) } }

    func send(_ message: [UInt8]) throws {
        var written: [[UInt8]] = []
        try message.withUnsafeBytes { bytes in try session.send(bytes) { written.append(Array($0)) } }
        sent += written
    }

    func close() { session.close { sent.append(Array($0)) } }

    /// Returns the datagrams sent since the last call.
    func takeSent() -> [[UInt8]] {
        defer { sent = [] }
        return sent
    }

    var profile: SRTPProfile? {
        if case .established(let profile) = session.state { profile } else { nil }
    }

    /// Both sides' master keys with their salts, the client's first.
    var keys: [[UInt8]] {
        guard let keys = session.makeSRTPKeys() else { return [] }
        let size = 16 + keys.profile.saltSize
        return [DTLSRole.client, .server].map { role in
            keys.withMasterKey(ofSender: role) { Array(UnsafeBufferPointer(start: $0, count: size)) }
        }
    }
}

/// The network's effect on datagrams.
struct Weather {
    var loss = 0.0
    var duplication = 0.0
    /// The minimum and maximum delay in seconds; datagrams may overtake each other.
    var delay = 0.001...0.001
    /// The seconds between which every datagram is lost.
    var cut: Range<Double>?
    /// Larger datagrams are lost, as in networks that drop fragments.
    var maximumSize = 1_200
}

/// Two sessions and the network between them, on virtual time, from a seed.
final class DTLSTrial {
    let client: DTLSEnd
    let server: DTLSEnd
    private(set) var now = HostTime(nanoseconds: 5_000_000_000)
    private let begin = HostTime(nanoseconds: 5_000_000_000)
    private let weather: Weather
    private var random: SeededRandom
    private var flying: [(due: HostTime, toServer: Bool, datagram: [UInt8])] = []
    /// Everything sent, in order.
    private(set) var log: [(toServer: Bool, datagram: [UInt8])] = []

    init(
        _ weather: Weather = Weather(), seed: UInt64 = 1, client: Identity? = nil, server: Identity? = nil,
        counterModes: (client: Bool, server: Bool) = (false, false)
    ) throws {
        let (anna, bert) = (try client ?? Peers.anna.get(), try server ?? Peers.bert.get())
        self.client = try DTLSEnd(
            .client, anna, peer: bert.certificateFingerprint, allowsCounterMode: counterModes.client)
        self.server = try DTLSEnd(
            .server, bert, peer: anna.certificateFingerprint, allowsCounterMode: counterModes.server)
        self.weather = weather
        random = SeededRandom(seed: seed)
    }

    /// Seconds since the beginning.
    var elapsed: Double { now.seconds(since: begin) }

    func start() {
        server.start(at: now)
        client.start(at: now)
        collect()
    }

    /// Runs for this many seconds, or until nothing more is due.
    func run(seconds: Double, until isDone: (DTLSTrial) -> Bool = { _ in false }) {
        let end = now.advanced(bySeconds: seconds)
        while !isDone(self) {
            collect()
            let deadlines = [client.session.nextDeadline, server.session.nextDeadline, flying.map(\.due).min()]
            guard let next = deadlines.compactMap({ $0 }).min(), next <= end else {
                now = end
                return
            }
            now = max(now, next)
            for datagram in flying.filter({ $0.due <= now }).sorted(by: { $0.due < $1.due }) {
                (datagram.toServer ? server : client).take(datagram.datagram, at: now)
            }
            flying.removeAll { $0.due <= now }
            client.tick(at: now)
            server.tick(at: now)
        }
    }

    /// Runs until both are established; false if they are not after 12 s.
    func establish() -> Bool {
        start()
        run(seconds: 12) { $0.client.profile != nil && $0.server.profile != nil }
        return client.profile != nil && server.profile != nil
    }

    private func collect() {
        for (end, toServer) in [(client, true), (server, false)] {
            for datagram in end.takeSent() {
                log.append((toServer, datagram))
                launch(datagram, toServer)
            }
        }
    }

    private func launch(_ datagram: [UInt8], _ toServer: Bool) {
        let isCut = weather.cut?.contains(elapsed) ?? false
        let copies = random.unit() < weather.duplication ? 2 : 1
        for _ in 0..<copies where random.unit() >= weather.loss && !isCut && datagram.count <= weather.maximumSize {
            let delay =
                weather.delay.lowerBound
                + (weather.delay.upperBound - weather.delay.lowerBound) * random.unit()
            flying.append((now.advanced(bySeconds: delay), toServer, datagram))
        }
    }
}
