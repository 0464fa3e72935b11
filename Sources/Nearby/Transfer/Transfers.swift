// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import EarshotRooms
import NIOHTTP1
import Synchronization

/// The room as transfers need it.
protocol TransferRoom: Sendable {
    /// Returns the native member with this key; nil if there is none.
    func member(with key: KeyFingerprint) async -> MemberID?
    /// Returns a native member's address and key; nil for the local member, a browser, or a member that left.
    func endpoint(of member: MemberID) async -> Endpoint?
}

/// A transfer from a member.
public enum IncomingTransfer: Sendable {
    /// A message of 1 to 65,536 bytes.
    case message([UInt8], from: MemberID)
    /// A new stream of bytes.
    case stream(IncomingStream, from: MemberID)
    /// A file to accept or decline.
    case file(IncomingFile, from: MemberID)
}

/// The limits of one member's transfers to another, and the timeouts.
struct TransferLimits: Sendable {
    /// The maximum bytes of a message.
    static let messageSize = 65_536

    /// The time that a message waits for the application before its sender is told to send it again.
    var messageHold = Duration.seconds(10)
    /// The maximum streams from one member at once.
    var streamsPerMember = 8
    /// The maximum files from one member at once, including offered ones.
    var filesPerMember = 8
    /// The time that an offer of a file waits for the application before its sender is told to offer it again.
    var offerHold = Duration.seconds(25)
    /// The time without a request of the sender after which the receiver gives a file up.
    var fileSilence = Duration.seconds(90)
    /// The time for which sending is retried to a member that does not answer or accepts no message.
    var retryTimeout = Duration.seconds(60)
    /// The time for which a request is retried to a member whose roster lacks the local peer: rosters take a moment to spread.
    var rosterGracePeriod = Duration.seconds(5)
    /// The time without progress after which a file's request is repeated.
    var stall = Duration.seconds(15)
    /// The time to wait for the answer to a message.
    var answer = Duration.seconds(20)
}

/// Messages, byte streams and files between the members of a room, each sent directly to the receiver's HTTPS server.
///
/// Serves only native members of the roster, by the verified key of their connection. Any task.
final class Transfers: Sendable {
    let room: any TransferRoom
    let limits: TransferLimits
    /// Passes a transfer to the application. It may wait, which slows the sender down; if it throws, the transfer was not
    /// delivered.
    let deliver: @Sendable (IncomingTransfer) async throws -> Void
    let transferTasks = MemberTasks()
    let inbox = MessageInbox()
    let files = FileTable()
    let openStreams = Mutex<[MemberID: Int]>([:])
    private let messageGates = Mutex<[MemberID: SerialGate]>([:])
    private let identity: TLSIdentity
    private let clients = Mutex<[MemberID: (endpoint: Endpoint, client: PeerClient)]>([:])
    private let epoch = UInt64.random(in: 1..<TransferNumber.limit)
    private let lastNumber = Atomic<UInt64>(0)

    /// - Parameter identity: the local identity for other peers.
    init(
        room: any TransferRoom, identity: TLSIdentity, limits: TransferLimits = TransferLimits(),
        deliver: @escaping @Sendable (IncomingTransfer) async throws -> Void
    ) {
        self.room = room
        self.limits = limits
        self.deliver = deliver
        self.identity = identity
    }

    /// Ends the transfers with a member that has left the roster.
    func ended(with member: MemberID) {
        transferTasks.end(with: member)
        files.end(with: member)
        messageGates.withLock { _ = $0.removeValue(forKey: member) }
        clients.withLock { _ = $0.removeValue(forKey: member) }
    }

    /// Ends all transfers, and refuses new ones.
    func close() {
        transferTasks.endAll()
        files.endAll()
        clients.withLock { $0 = [:] }
    }

    /// Answers a request; nil if it is not for transfers.
    func incoming(_ request: HTTPRequest) async throws -> HTTPResponse? {
        let pathComponents = request.target.components
        guard let first = pathComponents.first, ["messages", "streams", "files"].contains(first) else { return nil }
        do {
            guard !transferTasks.isOver, let key = request.clientKey,
                let fingerprint = try? PublicKey(spki: key).fingerprint,
                let member = await room.member(with: fingerprint)
            else { throw TransferError.gone }
            return try await transferTasks.run(with: member) {
                switch (first, pathComponents.count) {
                case ("messages", 1): try await self.takeMessage(request, from: member, with: fingerprint)
                case ("streams", 2): try await self.takeStream(request, from: member)
                case ("files", 2): try await self.takeFile(request, from: member, with: fingerprint)
                default:
                    throw HTTPProblem(status: .notFound, code: "not-found", message: "nothing exists at this path")
                }
            }
        } catch let error as TransferError {
            throw error.problem
        }
    }

    /// Returns the next number for a message or file of this process.
    func nextNumber() -> TransferNumber {
        TransferNumber(epoch: epoch, number: lastNumber.add(1, ordering: .relaxed).newValue)
    }

    /// Returns the gate through which the messages to a member pass one by one.
    func gate(of member: MemberID) -> SerialGate {
        messageGates.withLock { gates in
            if let gate = gates[member] { return gate }
            let gate = SerialGate()
            gates[member] = gate
            return gate
        }
    }

    /// Returns the client for requests to a member.
    /// - Throws: ``TransferError/gone``, ``TransferError/ended``.
    func client(of member: MemberID) async throws -> HTTPSClient {
        guard !transferTasks.isOver else { throw TransferError.ended }
        guard let endpoint = await room.endpoint(of: member), !endpoint.addresses.isEmpty else {
            throw TransferError.gone
        }
        return try clients.withLock { clients in
            if let (known, client) = clients[member], known == endpoint { return client.http }
            let client = try PeerClient(endpoint, identity: identity)
            clients[member] = (endpoint, client)
            return client.http
        }
    }
}

/// Lets tasks pass one by one, in order.
final class SerialGate: Sendable {
    private let turn = Mailbox<Bool>(capacity: 1)

    func run<Result>(_ body: () async throws -> Result) async throws -> Result {
        try await turn.send(true)
        defer { turn.drop() }
        return try await body()
    }
}

/// The delays and the time limit of retries.
struct RetryBackoff {
    private let limit: Duration
    private var failingSince: ContinuousClock.Instant?
    private var pause = Duration.zero

    init(_ limit: Duration) { self.limit = limit }

    /// Restarts the delays and the time limit, after progress.
    mutating func succeeded() { self = RetryBackoff(limit) }

    /// Waits before another attempt, longer each time, for two seconds at most.
    /// - Throws: after the time limit, the remote peer's error or ``TransferError/unreachable(_:)``.
    mutating func wait(after error: any Error) async throws {
        let since = failingSince ?? .now
        failingSince = since
        guard ContinuousClock.now - since + pause < limit else {
            throw error as? TransferError ?? .unreachable((error as? HTTPSError)?.description ?? "\(error)")
        }
        try await Task.sleep(for: pause)
        pause = min(max(.milliseconds(100), pause * 2), .seconds(2))
    }
}
