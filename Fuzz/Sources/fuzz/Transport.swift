// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

@testable import EarshotMediaTransport

private let anna = try! Identity.generate(at: 1_795_305_600)
private let bert = try! Identity.generate(at: 1_795_305_600)

/// A client and a server whose datagrams are kept.
private struct Peers {
    let client = try! DTLSSession(role: .client, identity: anna, peer: bert.certificateFingerprint)
    let server = try! DTLSSession(role: .server, identity: bert, peer: anna.certificateFingerprint)
    var toServer: [[UInt8]] = []
    var toClient: [[UInt8]] = []
    var now = HostTime(nanoseconds: 0)

    init() { client.start(at: now) { toServer.append(Array($0)) } }

    /// Delivers the client's datagrams, then the server's.
    mutating func step() {
        for datagram in takeToServer() { take(datagram) }
        for datagram in toClient {
            datagram.withUnsafeBytes {
                client.receive($0, at: now, transmit: { toServer.append(Array($0)) }, message: { _ in })
            }
        }
        toClient = []
    }

    mutating func take(_ datagram: [UInt8]) {
        datagram.withUnsafeBytes { take($0) { _ in preconditionFailure("a message that nobody has sent") } }
    }

    mutating func take(_ datagram: UnsafeRawBufferPointer, message: (UnsafeRawBufferPointer) -> Void) {
        var sent = 0
        server.receive(
            datagram, at: now,
            transmit: {
                precondition(!$0.isEmpty && $0.count <= DTLSSession.maximumDatagramSize)
                sent += $0.count
                toClient.append(Array($0))
            }, message: message)
        precondition(sent < 20_000)
    }

    mutating func takeToServer() -> [[UInt8]] {
        defer { toServer = [] }
        return toServer
    }

    var isEstablished: Bool {
        if case .established = server.state { true } else { false }
    }
}

/// The first byte selects the state of the handshake; then datagrams for the server follow, each after two bytes of length and
/// one of milliseconds since the last.
func fuzzDTLS(_ input: UnsafeRawBufferPointer) -> CInt {
    guard let steps = input.first else { return 0 }
    var peers = Peers()
    for _ in 0..<steps % 3 { peers.step() }
    let wasEstablished = peers.isEstablished
    var rest = input.dropFirst()
    while rest.count >= 3 {
        let start = rest.startIndex
        peers.now.nanoseconds += Int64(rest[start + 2]) * 1_000_000
        let size = Int(rest[start]) << 8 | Int(rest[start + 1])
        let datagram = UnsafeRawBufferPointer(rebasing: rest.dropFirst(3).prefix(size))
        rest = rest.dropFirst(3 + size)
        peers.take(datagram) { _ in preconditionFailure("a message that nobody has sent") }
        if let deadline = peers.server.nextDeadline, deadline <= peers.now {
            peers.server.tick(at: peers.now) { precondition($0.count <= DTLSSession.maximumDatagramSize) }
        }
    }
    precondition(peers.isEstablished == wasEstablished, "nobody but the client can bring a session about, or end it")
    return 0
}

/// Both ends of a protected stream. They are replaced now and then, as each has at most 32 sources.
private struct Stream {
    private let peers: Peers
    private var uses = 0
    private(set) var client: SRTPSession
    private(set) var server: SRTPSession

    init() {
        var peers = Peers()
        for _ in 0..<3 { peers.step() }
        self.peers = peers
        (client, server) = Self.sessions(peers)
    }

    private static func sessions(_ peers: Peers) -> (SRTPSession, SRTPSession) {
        guard let ours = peers.client.makeSRTPKeys(), let theirs = peers.server.makeSRTPKeys() else { fatalError() }
        return (try! SRTPSession(keys: ours, role: .client), try! SRTPSession(keys: theirs, role: .server))
    }

    mutating func renew() {
        uses += 1
        if uses.isMultiple(of: 64) { (client, server) = Self.sessions(peers) }
    }
}

private nonisolated(unsafe) var pair = Stream()

/// Any bytes must be refused as a protected packet; if they are a packet, they must be the same after protecting and
/// unprotecting.
func fuzzSRTP(_ input: UnsafeRawBufferPointer) -> CInt {
    pair.renew()
    withUnsafeTemporaryAllocation(byteCount: input.count + SRTPSession.maximumOverhead, alignment: 16) { buffer in
        // Memory of exactly this size, so that the address sanitizer detects reads beyond it.
        let exact = UnsafeMutableRawBufferPointer.allocate(byteCount: input.count, alignment: 16)
        exact.copyMemory(from: input)
        precondition((try? pair.server.unprotect(exact, count: input.count)) == nil, "forged")
        exact.deallocate()

        buffer.copyMemory(from: input)
        guard let count = try? pair.client.protect(buffer, count: input.count) else { return }
        precondition(count > input.count && count <= buffer.count)
        guard let back = try? pair.server.unprotect(buffer, count: count) else { return }  // from far behind, or ahead
        precondition(back == input.count && buffer.prefix(back).elementsEqual(input))
    }
    return 0
}

/// The messages of a handshake and its client.
func dtlsSeeds() -> [[UInt8]] {
    var peers = Peers()
    var log = peers.toServer
    for _ in 0..<3 {
        peers.step()
        log += peers.toServer
    }
    [UInt8](repeating: 7, count: 30).withUnsafeBytes { message in
        try! peers.client.send(message) { log.append(Array($0)) }
    }
    peers.client.close { log.append(Array($0)) }
    let all: [UInt8] = log.flatMap { [UInt8($0.count >> 8), UInt8($0.count & 255), 20] + $0 }
    return (0..<3).map { [UInt8($0)] + all }
}

/// Returns a packet and a report, unprotected and protected.
func srtpSeeds() -> [[UInt8]] {
    let media: [UInt8] = [0x90, 96, 0, 1, 0, 0, 0, 1, 0, 0, 0, 9, 0xBE, 0xDE, 0, 1, 1, 2, 3, 4, 5, 6]
    let report: [UInt8] = [0x80, 201, 0, 1, 0, 0, 0, 9]
    let protected = [media, report].map { (packet: [UInt8]) -> [UInt8] in
        var buffer = packet + [UInt8](repeating: 0, count: SRTPSession.maximumOverhead)
        let count = buffer.withUnsafeMutableBytes { try! pair.client.protect($0, count: packet.count) }
        return Array(buffer.prefix(count))
    }
    return [media, report] + protected
}
