import MediaTransport
import NIOHTTP1
import Rooms
import Synchronization

/// Requests of others.
extension NearbySession {
    /// Answers one, now or when it is decided.
    func handle(_ request: HTTPRequest) async throws -> HTTPResponse {
        guard request.target.components.first == "room" else {
            return try await transfers?.incoming(request) ?? RoomReply.refused(.notFound).response
        }
        let body = try await request.body.collect(upTo: WireLimit.body)
        let parts = HTTPParts(request.headers, body: body)
        let asked: RoomRequest
        do throws(RoomError) {
            asked = try RoomRequest(method: request.method.rawValue, path: request.target.path, parts: parts)
        } catch {
            return RoomReply.refused(error).response
        }
        let key = request.clientKey.flatMap { try? PublicKey(spki: $0) }?.fingerprint
        let caller = Caller(address: request.remoteAddress.address, key: key, parts: parts)
        let id = RequestID(nextRequest)
        nextRequest += 1
        let reply = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                requests[id] = continuation
                received(asked, id, caller)
            }
        } onCancel: {
            Task { await self.connectionLost(id) }
        }
        guard reply == .events, let feed = feeds[id] else { return reply.response }
        var response = HTTPResponse.events { [weak self] writer in
            do {
                for await bytes in feed.bytes {
                    try await writer.write(bytes)
                    feed.sent(bytes.count)
                }
            } catch {
                await self?.connectionLost(id)
                throw error
            }
            await self?.connectionLost(id)
        }
        response.headers = HTTPHeaders(reply.parts)
        return response
    }

    private func received(_ request: RoomRequest, _ id: RequestID, _ caller: Caller) {
        switch role {
        case .none: answer(id, .refused(.notHost))
        case .host: withHost { $0.received(request, as: id, from: caller, at: .now()) }
        case .guest: withGuest { $0.received(request, as: id, at: .now()) }
        }
    }

    func answer(_ id: RequestID, _ reply: RoomReply) {
        guard let continuation = requests.removeValue(forKey: id) else { return }
        if reply == .events {
            feeds[id] = EventFeed { [weak self] in Task { await self?.connectionLost(id) } }
        }
        continuation.resume(returning: reply)
    }

    /// Whoever asked no longer does, or no longer listens.
    private func connectionLost(_ id: RequestID) {
        let feed = feeds.removeValue(forKey: id)
        feed?.finish()
        let continuation = requests.removeValue(forKey: id)
        guard feed != nil || continuation != nil else { return }
        withHost { $0.connectionLost(id, at: .now()) }
        continuation?.resume(returning: .refused(.cancelled))
    }
}

/// What a member is told by and by. Bounded: who does not read loses the stream, and gets what it missed by another.
final class EventFeed: Sendable {
    /// Bytes that wait at most.
    static let capacity = 256 * 1024

    let bytes: AsyncStream<[UInt8]>
    private let continuation: AsyncStream<[UInt8]>.Continuation
    private let waiting = Mutex(0)
    private let overflow: @Sendable () -> Void

    /// - Parameter overflow: called once, where more waits than there may.
    init(overflow: @escaping @Sendable () -> Void) {
        (bytes, continuation) = AsyncStream.makeStream()
        self.overflow = overflow
    }

    func send(_ piece: [UInt8]) {
        let isFull = waiting.withLock { count in
            let isFull = count <= Self.capacity && count + piece.count > Self.capacity
            count += piece.count
            return isFull
        }
        if isFull {
            continuation.finish()
            overflow()
        } else {
            continuation.yield(piece)
        }
    }

    func sent(_ count: Int) { waiting.withLock { $0 -= count } }

    /// Nothing more comes; what waits still goes out.
    func finish() { continuation.finish() }

    /// Returns when nothing waits any more, or after a while.
    func drained(within limit: Duration) async {
        let end = ContinuousClock.now + limit
        while waiting.withLock({ $0 > 0 }), ContinuousClock.now < end { try? await Task.sleep(for: .milliseconds(5)) }
    }
}

enum WireLimit {
    /// Bytes of a request's or a reply's body.
    static let body = 65_536
}

extension HTTPParts {
    /// Of several fields of a name the first counts.
    init(_ headers: HTTPHeaders, body: [UInt8]) {
        var fields: [String: String] = [:]
        for (name, value) in headers where fields[name.lowercased()] == nil { fields[name.lowercased()] = value }
        self.init(fields: fields, body: body)
    }
}

extension HTTPHeaders {
    init(_ parts: HTTPParts) { self.init(parts.fields.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }) }
}

extension RoomReply {
    /// As HTTP has it.
    var response: HTTPResponse {
        let parts = parts
        return HTTPResponse(
            status: HTTPResponseStatus(statusCode: status), headers: HTTPHeaders(parts), content: .bytes(parts.body))
    }
}
