// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport
import EarshotRooms
import NIOHTTP1

import struct EarshotMediaTransport.SocketAddress

/// Requests from this session to other peers.
extension NearbySession {
    /// Makes a request in a new task, and reports the reply or the failure to the core.
    func call(_ id: CallID, _ request: RoomRequest, _ endpoint: Endpoint) {
        outgoing.calls[id] = Task { [weak self] in
            guard let self else { return }
            await carry(id, request, endpoint)
            await forget(id)
        }
    }

    private func forget(_ id: CallID) { outgoing.calls[id] = nil }

    private func carry(_ id: CallID, _ request: RoomRequest, _ endpoint: Endpoint) async {
        do throws(CallFailed) {
            try await exchange(request, endpoint) { session, reply, key, address in
                session.handleGuestEvent(.replied(id, reply, provedBy: key, from: address))
            } event: { session, item in
                session.handleGuestEvent(.itemReceived(item, on: id))
            }
            if case .events = request { handleGuestEvent(.callFailed(id, .closed)) }
        } catch {
            if !Task.isCancelled { handleGuestEvent(.callFailed(id, error.reason)) }
        }
    }

    /// Asks a peer to describe its room, and passes the answer to the core.
    func probe(_ endpoint: Endpoint) async {
        try? await exchange(.describe, endpoint, timeout: .seconds(3)) { session, reply, key, address in
            guard case .room(let info) = reply else { return }
            session.handle([
                .host(.peerDescribed(info, provedBy: key)), .guest(.peerDescribed(info, provedBy: key, from: address)),
            ])
        } event: { _, _ in
        }
    }

    /// Makes one request. `replied` gets the reply, `event` each item of a stream of events. Returns when the reply is complete,
    /// or the stream has ended.
    private func exchange(
        _ request: RoomRequest, _ endpoint: Endpoint, timeout: Duration? = nil,
        replied: @Sendable (isolated NearbySession, RoomReply, KeyFingerprint, SocketAddress) -> Void,
        event: @Sendable (isolated NearbySession, EventStreamParser.Item) -> Void
    ) async throws(CallFailed) {
        var client: PeerClient?
        do {
            let peer = try outgoing.client(for: endpoint, identity: tls)
            client = peer
            let parts = request.parts
            try await peer.http.send(
                HTTPMethod(rawValue: request.method), request.path, headers: HTTPHeaders(parts),
                content: .bytes(parts.body), timeout: timeout
            ) { answer in
                guard let key = try? PublicKey(spki: answer.serverKey).fingerprint else {
                    throw CallFailed(reason: .invalidResponse(.malformed("its key cannot be read")))
                }
                let isStream = request.isEventStream && answer.status == .ok
                let body = isStream ? [] : try await answer.body.collect(upTo: HTTPMessage.maximumBodySize)
                let reply: RoomReply
                do throws(RoomError) {
                    reply = try RoomReply(
                        to: request, status: Int(answer.status.code), parts: HTTPMessage(answer.headers, body: body))
                } catch {
                    throw CallFailed(reason: .invalidResponse(error))
                }
                guard !Task.isCancelled else { throw CancellationError() }
                replied(self, reply, key, answer.address)
                guard isStream else { return }
                var parser = EventStreamParser()
                for try await piece in answer.body {
                    for item in try parser.parse(piece.readableBytesView) {
                        guard !Task.isCancelled else { throw CancellationError() }
                        event(self, item)
                    }
                }
            }
        } catch let failure as CallFailed {
            throw failure
        } catch is EventStreamError {
            throw CallFailed(reason: .invalidResponse(.malformed("an event that is too long")))
        } catch let error as HTTPSError {
            // A kept connection to a lost peer would be tried again and again.
            outgoing.close(client, to: endpoint)
            throw CallFailed(reason: RequestFailure(error, found: client?.found))
        } catch {
            if Task.isCancelled { outgoing.close(client, to: endpoint) }
            throw CallFailed(reason: .closed)
        }
    }
}

private struct CallFailed: Error {
    let reason: RequestFailure
}

extension RoomRequest {
    fileprivate var isEventStream: Bool {
        if case .events = self { true } else { false }
    }
}

extension RequestFailure {
    init(_ error: HTTPSError, found: KeyFingerprint?) {
        self =
            switch error {
            case .connectionRefused: .refused
            case .unreachable, .addressNotAvailable, .system: .unreachable
            case .timedOut: .timedOut
            case .wrongKey: found.map { .wrongKey($0) } ?? .invalidResponse(.malformed("another key"))
            case .notTLS, .handshakeFailed, .notHTTP: .invalidResponse(.malformed(error.description))
            case .cut, .portInUse, .permissionDenied, .unusableIdentity: .closed
            }
    }
}
