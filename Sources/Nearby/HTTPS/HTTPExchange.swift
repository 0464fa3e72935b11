// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import NIOCore
import NIOHTTP1

/// One request of a client and its answer, on one connection.
struct HTTPExchange {
    /// The connection ended before the answer began.
    struct Unanswered: Error {
        let reason: any Error
    }

    let link: HTTPLink
    let deadline: NIODeadline?
    private var connection: ClientConnection { link.connection }

    /// - Parameter keep: called if the connection can be used for another request; otherwise the connection is closed.
    func run<Result>(
        _ method: HTTPMethod, _ target: String, _ headers: HTTPHeaders, _ content: HTTPContent,
        isolation: isolated (any Actor)?, _ read: (HTTPAnswer) async throws -> Result, keep: () -> Void
    ) async throws -> Result {
        let head = requestHead(method, target, headers, content)
        let timer = deadline.map { time in
            connection.channel.eventLoop.scheduleTask(deadline: time) {
                self.connection.abort(ConnectionFailure.timedOut)
            }
        }
        defer { timer?.cancel() }
        // Send in parallel with reading the answer: a server may answer before it has received the whole content.
        async let sending: Void = connection.send(head, content, within: nil)
        let failure: any Error
        do {
            let answer = try await firstOfAnswer()
            let reader = HTTPBodyReader(connection)
            let length = answer.headers.first(name: "content-length").flatMap { Int($0) }
            let result = try await read(
                HTTPAnswer(
                    status: answer.status, headers: answer.headers,
                    body: HTTPBody(length: length, reader: reader, timeout: nil), serverKey: link.serverKey,
                    address: link.address))
            reader.finish()
            // Cancel the timer before the connection is reused, or it might abort the next request.
            timer?.cancel()
            if answer.isKeepAlive, await connection.isReady() {
                try await sending
                keep()
            } else {
                connection.abort(ConnectionFailure.closed)
            }
            return result
        } catch {
            failure = error
        }
        connection.abort(ConnectionFailure.closed)
        // If the content could not be produced, throw that error: it is the cause, not the closed connection.
        do {
            try await sending
        } catch {
            if HTTPSError(error, from: link.address) == nil, !(error is CancellationError) { throw error }
        }
        try Task.checkCancellation()
        if let unanswered = failure as? Unanswered { throw Unanswered(reason: named(unanswered.reason)) }
        throw named(failure)
    }

    private func requestHead(_ method: HTTPMethod, _ target: String, _ headers: HTTPHeaders, _ content: HTTPContent)
        -> HTTPRequestHead
    {
        var head = HTTPRequestHead(version: .http1_1, method: method, uri: target, headers: headers)
        head.headers.replaceOrAdd(name: "Host", value: link.address.hostHeader)
        switch content {
        case .bytes(let bytes):
            if !bytes.isEmpty || [.POST, .PUT, .PATCH].contains(method) {
                head.headers.replaceOrAdd(name: "Content-Length", value: "\(bytes.count)")
            }
        case .stream: head.headers.replaceOrAdd(name: "Transfer-Encoding", value: "chunked")
        }
        return head
    }

    private func firstOfAnswer() async throws -> HTTPResponseHead {
        do {
            guard case .head(let head) = try await connection.next(within: nil) else { preconditionFailure("no head") }
            return head
        } catch let error as ConnectionFailure {
            guard case .closed = error else { throw error }
            throw Unanswered(reason: error)
        } catch let error where HTTPSError(error, from: link.address) == .cut(link.address) {
            throw Unanswered(reason: error)
        }
    }

    /// Returns an error of the network as ``HTTPSError``; another error unchanged.
    private func named(_ error: any Error) -> any Error { HTTPSError(error, from: link.address) ?? error }
}
