// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import EarshotRooms
import NIOHTTP1
import Synchronization

/// The room, as far as what goes from member to member asks of it.
protocol TransferRoom: Sendable {
    /// The native member of the roster that has this key; nil if there is none.
    func member(with key: KeyFingerprint) async -> MemberID?
    /// Returns a native member's address and key; nil for oneself, for a browser, and for a member who left.
    func endpoint(of member: MemberID) async -> Endpoint?
}

/// A transfer from a member.
public enum IncomingTransfer: Sendable {
    /// 1 to 65,536 bytes.
    case message([UInt8], from: MemberID)
    /// A stream of bytes, which begins.
    case stream(IncomingStream, from: MemberID)
    /// A file, to be accepted or declined.
    case file(IncomingFile, from: MemberID)
}

/// The limits of one member's transfers to another, and the timeouts.
struct TransferLimits: Sendable {
    /// Bytes of a message.
    static let messageSize = 65_536

    /// Time that a message waits for the application before its sender is asked to send it again.
    var messageHold = Duration.seconds(10)
    /// Streams at once from one member.
    var streamsPerMember = 8
    /// Files at once from one member, those offered included.
    var filesPerMember = 8
    /// Time that an offer of a file waits for the application before its sender is asked to offer it again.
    var offerHold = Duration.seconds(25)
    /// Time without data after which the receiver gives up a file.
    var fileSilence = Duration.seconds(90)
    /// Time for which a send is retried to a member that does not answer or accepts no message.
    var retryTimeout = Duration.seconds(60)
    /// Time for which a request is retried to a member whose roster does not have us yet: rosters take a moment to spread.
    var rosterGracePeriod = Duration.seconds(5)
    /// Time without progress after which a file's request is repeated.
    var stall = Duration.seconds(15)
    /// Timeout of an answer to a message.
    var answer = Duration.seconds(20)
}

/// Messages, byte streams and files between the members of a room, each directly, over the receiver's HTTPS server.
///
/// Only native members of the roster are served, by the key that their connection has proved. Any task.
final class Transfers: Sendable {
    let room: any TransferRoom
    let limits: TransferLimits
    /// Takes what arrived. It may wait for as long as the application does, and holds up the sender by it; if it throws, it has not
    /// taken it.
    let deliver: @Sendable (IncomingTransfer) async throws -> Void
    let undertakings = MemberTasks()
    let inbox = MessageInbox()
    let files = FileTable()
    let openStreams = Mutex<[MemberID: Int]>([:])
    private let lanes = Mutex<[MemberID: SerialGate]>([:])
    private let identity: TLSIdentity
    private let clients = Mutex<[MemberID: (endpoint: Endpoint, client: PeerClient)]>([:])
    private let epoch = UInt64.random(in: 1..<TransferNumber.limit)
    private let lastNumber = Atomic<UInt64>(0)

    /// - Parameter identity: what this side shows to others.
    init(
        room: any TransferRoom, identity: TLSIdentity, limits: TransferLimits = TransferLimits(),
        deliver: @escaping @Sendable (IncomingTransfer) async throws -> Void
    ) {
        self.room = room
        self.limits = limits
        self.deliver = deliver
        self.identity = identity
    }

    /// A member has left the roster: what is under way with it ends, on this side at once.
    func ended(with member: MemberID) {
        undertakings.end(with: member)
        files.end(with: member)
        lanes.withLock { _ = $0.removeValue(forKey: member) }
        clients.withLock { _ = $0.removeValue(forKey: member) }
    }

    /// Ends everything; nothing is sent or taken after it.
    func close() {
        undertakings.endAll()
        files.endAll()
        clients.withLock { $0 = [:] }
    }

    /// Answers a request; nil if it asks for nothing of this.
    func incoming(_ request: HTTPRequest) async throws -> HTTPResponse? {
        let way = request.target.components
        guard let first = way.first, ["messages", "streams", "files"].contains(first) else { return nil }
        do {
            guard !undertakings.isOver, let key = request.clientKey,
                let fingerprint = try? PublicKey(spki: key).fingerprint,
                let member = await room.member(with: fingerprint)
            else { throw TransferError.gone }
            return try await undertakings.run(with: member) {
                switch (first, way.count) {
                case ("messages", 1): try await self.takeMessage(request, from: member, with: fingerprint)
                case ("streams", 2): try await self.takeStream(request, from: member)
                case ("files", 2): try await self.takeFile(request, from: member, with: fingerprint)
                default:
                    throw HTTPProblem(status: .notFound, code: "not-found", message: "there is nothing at this path")
                }
            }
        } catch let error as TransferError {
            throw error.problem
        }
    }

    /// The next number of this process.
    func nextNumber() -> TransferNumber {
        TransferNumber(epoch: epoch, number: lastNumber.add(1, ordering: .relaxed).newValue)
    }

    /// Returns the gate of messages to a member, one by one.
    func lane(of member: MemberID) -> SerialGate {
        lanes.withLock { lanes in
            if let lane = lanes[member] { return lane }
            let lane = SerialGate()
            lanes[member] = lane
            return lane
        }
    }

    /// Returns the client for requests to a member.
    /// - Throws: ``TransferError/gone``, ``TransferError/ended``.
    func client(of member: MemberID) async throws -> HTTPSClient {
        guard !undertakings.isOver else { throw TransferError.ended }
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

/// Lets tasks through one by one, in their order.
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

    /// Restarts the time limit after progress.
    mutating func succeeded() { self = RetryBackoff(limit) }

    /// Waits a little, longer each time.
    /// - Throws: when it has failed for too long: what the remote peer says, or ``TransferError/unreachable(_:)``.
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
