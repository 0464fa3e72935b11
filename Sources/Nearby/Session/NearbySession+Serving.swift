// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import EarshotRooms
import NIOHTTP1

/// Requests of other peers.
extension NearbySession {
    /// Answers a request of a peer, at once or when the core or its user has decided.
    func handle(_ request: HTTPRequest) async throws -> HTTPResponse {
        guard request.target.components.first == "room" else {
            return try await transfers?.incoming(request) ?? RoomReply.refused(.notFound).response
        }
        let body = try await request.body.collect(upTo: HTTPMessage.maximumBodySize)
        let parts = HTTPMessage(request.headers, body: body)
        let roomRequest: RoomRequest
        do throws(RoomError) {
            roomRequest = try RoomRequest(method: request.method.rawValue, path: request.target.path, parts: parts)
        } catch {
            return RoomReply.refused(error).response
        }
        let key = request.clientKey.flatMap { try? PublicKey(spki: $0) }?.fingerprint
        let caller = RequestOrigin(address: request.remoteAddress.address, key: key, parts: parts)
        if case .ask = roomRequest { await reviewKnownPeers() }
        return await respond(to: roomRequest, caller)
    }

    func respond(to roomRequest: RoomRequest, _ caller: RequestOrigin) async -> HTTPResponse {
        let id = incoming.makeID()
        let reply = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                incoming.add(continuation, for: id)
                act { core, now in core.receive(roomRequest, id, from: caller, at: now) }
            }
        } onCancel: {
            Task { await self.connectionLost(id) }
        }
        guard reply == .events, let feed = incoming.feeds[id] else { return reply.response }
        // The listener is released and reports the loss even if the connection ends before the body is read.
        let listener = Listener { [weak self] in Task { await self?.connectionLost(id) } }
        var response = HTTPResponse.events { writer in
            defer { withExtendedLifetime(listener) {} }
            for await bytes in feed.bytes {
                try await writer.write(bytes)
                feed.sent(bytes.count)
            }
        }
        response.headers = HTTPHeaders(reply.parts)
        return response
    }

    func answer(_ id: RequestID, _ reply: RoomReply) {
        incoming.answer(id, reply) { [weak self] in Task { await self?.connectionLost(id) } }
    }

    /// Handles a peer that cancelled its request, or closed its event stream.
    private func connectionLost(_ id: RequestID) {
        if incoming.lose(id) { handleHostEvent(.connectionLost(id)) }
    }
}

/// Calls a closure when it is released.
private final class Listener: Sendable {
    private let onRelease: @Sendable () -> Void

    init(onRelease: @escaping @Sendable () -> Void) { self.onRelease = onRelease }

    deinit { onRelease() }
}
