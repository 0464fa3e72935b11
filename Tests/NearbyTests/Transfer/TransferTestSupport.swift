// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import EarshotRooms
import Foundation
import Synchronization

import struct EarshotMediaTransport.SocketAddress

@testable import EarshotNearby

/// A room of processes on loopback: its members, and where each can be reached.
final class TestRoom: TransferRoom, Sendable {
    private let members = Mutex<[MemberID: Endpoint]>([:])

    func enter(_ member: MemberID, _ key: KeyFingerprint, at address: SocketAddress) {
        members.withLock { $0[member] = Endpoint(addresses: [address], key: .exactly(key)) }
    }

    func leave(_ member: MemberID) { members.withLock { $0[member] = nil } }

    func member(with key: KeyFingerprint) async -> MemberID? {
        members.withLock { $0.first { $0.value.key == .exactly(key) }?.key }
    }

    func endpoint(of member: MemberID) async -> Endpoint? { members.withLock { $0[member] } }
}

/// One member with its server.
final class TestMember: Sendable {
    let id: MemberID
    let identity: Identity
    let server: HTTPSServer
    let transfers: Transfers
    /// The arrivals, with a capacity.
    let arrivals: Mailbox<IncomingTransfer>
    private let running: Task<Void, Never>

    init(
        _ number: UInt64, in room: TestRoom, identity: Identity? = nil, port: UInt16 = 0, capacity: Int = 64,
        limits: TransferLimits = TransferLimits(), enters: Bool = true
    ) async throws {
        guard let id = MemberID(number) else { throw TransferError.gone }
        let identity = try identity ?? Identity.generate(at: Int64(Date().timeIntervalSince1970))
        let tls = try Self.tls(identity)
        var serverLimits = HTTPSLimits()
        serverLimits.grace = .milliseconds(50)
        let server = try await HTTPSServer(address: .loopback, port: port, identity: tls, limits: serverLimits)
        let arrivals = Mailbox<IncomingTransfer>(capacity: capacity)
        let transfers = Transfers(room: room, identity: tls, limits: limits) { try await arrivals.send($0) }
        (self.id, self.identity, self.server, self.transfers, self.arrivals) = (
            id, identity, server, transfers, arrivals
        )
        running = Task {
            await server.run { request in
                try await transfers.incoming(request)
                    ?? { throw HTTPProblem(status: .notFound, code: "not-found", message: "") }()
            }
        }
        if enters { room.enter(id, identity.fingerprint, at: server.localAddress) }
    }

    static func tls(_ identity: Identity) throws -> TLSIdentity {
        try TLSIdentity(
            certificatePEM: Array(identity.certificatePEM.utf8), privateKeyPEM: Array(identity.privateKeyPEM.utf8))
    }

    /// Ends like a killed process: nobody is told.
    func end() async {
        server.stop()
        await running.value
        transfers.close()
        arrivals.finish()
    }

    /// A client that presents this member's key and accepts any server's.
    func client(of other: TestMember) throws -> HTTPSClient {
        try HTTPSClient(addresses: [other.server.localAddress], identity: Self.tls(identity)) { _ in .trusted }
    }

    /// Returns the next message.
    func message() async throws -> [UInt8]? {
        guard case .message(let bytes, _)? = try await arrivals.next() else { return nil }
        return bytes
    }

    func stream() async throws -> IncomingStream {
        guard case .stream(let stream, _)? = try await arrivals.next() else { throw TransferError.gone }
        return stream
    }

    func file() async throws -> IncomingFile {
        guard case .file(let file, _)? = try await arrivals.next() else { throw TransferError.gone }
        return file
    }
}

/// Runs `body` with two members.
func withPair(
    capacity: Int = 64, limits: TransferLimits = TransferLimits(),
    _ body: (_ room: TestRoom, _ a: TestMember, _ b: TestMember) async throws -> Void
) async throws {
    let room = TestRoom()
    let a = try await TestMember(1, in: room, limits: limits)
    let b = try await TestMember(2, in: room, capacity: capacity, limits: limits)
    do { try await body(room, a, b) } catch {
        await a.end()
        await b.end()
        throw error
    }
    await a.end()
    await b.end()
}

/// Runs `body` with a temporary folder.
func withFolder(in place: String = NSTemporaryDirectory(), _ body: (String) async throws -> Void) async throws {
    let folder = "\(place)earshot-transfer-\(getpid())-\(UInt64.random(in: 0 ... .max))"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer {
        chmod(folder, 0o700)
        try? FileManager.default.removeItem(atPath: folder)
    }
    try await body(folder)
}

func listing(_ folder: String) -> [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted()
}

/// Returns the size of the first file in a folder in bytes; 0 if there is none.
func partSize(_ folder: String) -> Int {
    listing(folder).first.flatMap {
        try? FileManager.default.attributesOfItem(atPath: "\(folder)/\($0)")[.size] as? Int
    } ?? 0
}

func contents(_ path: String) -> [UInt8] { Array(FileManager.default.contents(atPath: path) ?? Data()) }

func write(_ bytes: [UInt8], to path: String) throws { try Data(bytes).write(to: URL(filePath: path)) }

/// Bytes that differ everywhere.
func noise(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
    var state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
    return (0..<count).map { _ in
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return UInt8(truncatingIfNeeded: state >> 32)
    }
}

/// Counts the actions of several tasks.
final class Counter: Sendable {
    private let number = Atomic(0)

    var value: Int { number.load(ordering: .relaxed) }
    @discardableResult func add(_ more: Int) -> Int { number.add(more, ordering: .relaxed).newValue }
    func raise(to other: Int) { number.max(other, ordering: .relaxed) }
}

/// A connection that can be cut, between a client and a server on loopback. It uses threads, since sockets block.
final class TestWire: @unchecked Sendable {
    let address: SocketAddress
    private let target: SocketAddress
    private let listener: CInt
    private let state = Mutex(State())

    private struct State {
        var sockets: Set<CInt> = []
        /// Bytes to the server that still pass before everything is cut.
        var rest = Int.max
        var isHeld = false
        /// Bytes to the server that still pass before everything is held up.
        var restToHold = Int.max
        var isEnded = false
        var connections = 0
        var passed = 0
    }

    init(to target: SocketAddress) throws {
        self.target = target
        let listening = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard SocketAddress(.loopback, port: 0).withKernelAddress({ bind(listening, $0, $1) }) == 0,
            listen(listening, 16) == 0, let bound = SocketAddress.filled(by: { getsockname(listening, $0, &$1) })
        else { throw TransferError.gone }
        listener = listening
        address = bound
        Thread.detachNewThread { self.accept() }
    }

    /// The number of connections made.
    var connections: Int { state.withLock { $0.connections } }

    /// Bytes that passed to the server.
    var passed: Int { state.withLock { $0.passed } }

    /// Cuts everything after this many more bytes to the server.
    func cut(after count: Int) { state.withLock { $0.rest = count } }

    /// Holds up all bytes until it is called with false.
    func hold(_ isHeld: Bool) { state.withLock { $0.isHeld = isHeld } }

    /// Holds up all bytes after this many more bytes to the server.
    func hold(after count: Int) { state.withLock { $0.restToHold = count } }

    var isHolding: Bool { state.withLock { $0.isHeld } }

    /// Cuts all connections.
    func cutNow() {
        state.withLock { state in
            for socket in state.sockets { shutdown(socket, Int32(SHUT_RDWR)) }
            state.rest = .max
        }
    }

    func end() {
        state.withLock { $0.isEnded = true }
        cutNow()
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
    }

    private func accept() {
        while true {
            let near = Glibc.accept(listener, nil, nil)
            guard near >= 0 else { return }
            let far = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            guard target.withKernelAddress({ connect(far, $0, $1) }) == 0 else {
                close(near)
                close(far)
                continue
            }
            state.withLock { state in
                state.sockets.formUnion([near, far])
                state.connections += 1
            }
            let pair = Pair()
            Thread.detachNewThread { self.pump(near, far, isToServer: true, pair) }
            Thread.detachNewThread { self.pump(far, near, isToServer: false, pair) }
        }
    }

    /// The direction that ends last closes both sockets.
    private final class Pair: Sendable {
        let ended = Atomic(0)
    }

    private func pump(_ from: CInt, _ to: CInt, isToServer: Bool, _ pair: Pair) {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(from, &buffer, buffer.count)
            guard count > 0 else { break }
            while state.withLock({ $0.isHeld && !$0.isEnded }) { usleep(2_000) }
            let passes = state.withLock { state in
                if isToServer, state.restToHold != .max {
                    state.restToHold -= min(count, state.restToHold)
                    if state.restToHold == 0 { (state.isHeld, state.restToHold) = (true, .max) }
                }
                guard isToServer, state.rest != .max else { return count }
                let passes = min(count, state.rest)
                state.rest -= passes
                return passes
            }
            if send(to, buffer, passes, Int32(MSG_NOSIGNAL)) < passes { break }
            if isToServer { state.withLock { $0.passed += passes } }
            guard passes < count else { continue }
            cutNow()
            break
        }
        shutdown(from, Int32(SHUT_RDWR))
        shutdown(to, Int32(SHUT_RDWR))
        guard pair.ended.add(1, ordering: .acquiringAndReleasing).newValue == 2 else { return }
        state.withLock { $0.sockets.subtract([from, to]) }
        close(from)
        close(to)
    }
}
