// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import NIOCore
import NIOHTTP1

import struct EarshotMediaTransport.SocketAddress

extension HTTPSServer {
    /// Reads and answers requests until either side closes the connection.
    func converse(
        on connection: ServerConnection, from remote: SocketAddress, _ handler: Handler
    ) async {
        do {
            var isFirst = true
            while table.setWaiting(true, connection) {
                guard
                    case .head(let head) = try await connection.next(
                        within: isFirst ? limits.headTimeout : limits.idleTimeout,
                        onceBegun: isFirst ? nil : limits.headTimeout)
                else { return }
                _ = table.setWaiting(false, connection)
                guard try await answer(head, on: connection, from: remote, handler) else { return }
                isFirst = false
            }
        } catch let error as HTTPParserError {
            if let response = Self.response(to: error) { try? await sendLast(response, on: connection) }
        } catch {
            // The client has disconnected or is silent, or the server stops: no answer is possible.
        }
    }

    /// Answers a request. Returns true if another request may follow on the connection.
    private func answer(
        _ head: HTTPRequestHead, on connection: ServerConnection, from remote: SocketAddress,
        _ handler: Handler
    ) async throws -> Bool {
        let reader = HTTPBodyReader(connection) {
            guard !head.isOld, head.headers[canonicalForm: "expect"].contains("100-continue") else {
                return
            }
            try await connection.write(
                [.head(HTTPResponseHead(version: .http1_1, status: .continue))], within: self.limits.writeTimeout)
        }
        defer { reader.finish() }
        let response = try await handle(head, reader, connection, from: remote, handler)
        let isWhole = await connection.isInboundWhole()
        let keepsAlive =
            isWhole && head.isKeepAlive && !head.isOld && head.method != .CONNECT
            && !head.headers.contains(name: "upgrade") && !table.isStopping
            && !response.headers[canonicalForm: "connection"].contains("close")
        var answer = HTTPResponseHead(
            version: head.isOld ? .http1_0 : .http1_1, status: response.status, headers: response.headers)
        if !keepsAlive { answer.headers.replaceOrAdd(name: "Connection", value: "close") }
        if case .bytes(let bytes) = response.content {
            answer.headers.replaceOrAdd(name: "Content-Length", value: "\(bytes.count)")
        }
        if head.method != .HEAD, response.status.mayHaveResponseBody {
            try await connection.send(answer, response.content, within: limits.writeTimeout)
        } else {
            try await connection.write([.head(answer)], within: limits.writeTimeout)
        }
        reader.finish()
        guard isWhole else {
            await linger(connection)
            return false
        }
        return try await connection.skipMessage(upTo: 0, within: .zero) && keepsAlive
    }

    /// Returns the handler's answer, or the one for its error.
    private func handle(
        _ head: HTTPRequestHead, _ reader: HTTPBodyReader, _ connection: ServerConnection, from remote: SocketAddress,
        _ handler: Handler
    ) async throws -> HTTPResponse {
        guard let target = HTTPTarget(head.uri) else {
            return HTTPProblem(
                status: .badRequest, code: "bad-target", message: "what was asked for cannot be read"
            ).response
        }
        let body = HTTPBody(
            length: head.headers.first(name: "content-length").flatMap { Int($0) }, reader: reader,
            timeout: limits.bodyTimeout)
        let request = HTTPRequest(
            method: head.method, target: target, headers: head.headers, remoteAddress: remote,
            clientKey: await connection.peerKey(), body: body)
        do {
            return try await handler(request)
        } catch let problem as HTTPProblem {
            return problem.response
        } catch HTTPBodyError.tooLarge(let limit) {
            let message = "the body is longer than \(limit) bytes"
            return HTTPProblem(status: .payloadTooLarge, code: "too-large", message: message).response
        } catch ConnectionFailure.timedOut {
            return HTTPProblem(
                status: .requestTimeout, code: "timed-out", message: "the body did not come in time"
            ).response
        } catch let error where error is CancellationError || error is ConnectionFailure || error is HTTPParserError {
            throw error
        } catch {
            // The error's message is for this machine's user, not for the client.
            return HTTPProblem(
                status: .internalServerError, code: "internal", message: "an internal error occurred"
            ).response
        }
    }

    /// Returns the answer to an invalid request; nil if the client has disconnected.
    private static func response(to error: HTTPParserError) -> HTTPResponse? {
        switch error {
        case .invalidEOFState, .closedConnection: nil
        case .headerOverflow:
            HTTPProblem(
                status: .requestHeaderFieldsTooLarge, code: "head-too-large", message: "the headers are too long"
            ).response
        case .invalidVersion:
            HTTPProblem(
                status: .httpVersionNotSupported, code: "version", message: "only HTTP/1.0 and HTTP/1.1 are spoken here"
            ).response
        default: HTTPProblem(status: .badRequest, code: "bad-request", message: "this is not an HTTP request").response
        }
    }

    /// Sends the answer to an invalid request, the last one on the connection.
    private func sendLast(_ response: HTTPResponse, on connection: ServerConnection) async throws {
        var head = HTTPResponseHead(version: .http1_1, status: response.status, headers: response.headers)
        head.headers.replaceOrAdd(name: "Connection", value: "close")
        try await connection.send(head, response.content, within: limits.writeTimeout)
    }

    /// Reads on after the answer if the request's body was not read. Closing a socket with unread bytes would reset the
    /// connection, and the answer would be lost.
    private func linger(_ connection: ServerConnection) async {
        _ = try? await connection.skipMessage(upTo: 1_048_576, within: .seconds(1))
    }
}

extension HTTPRequestHead {
    /// True for HTTP/1.0, which has no chunked bodies. The parser accepts HTTP/1.x only.
    fileprivate var isOld: Bool { version.minor == 0 }
}
