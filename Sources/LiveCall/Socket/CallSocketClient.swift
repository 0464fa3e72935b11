// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Foundation

/// A connection to the socket of a call of the same user. For one thread.
package final class CallSocketClient {
    /// The first line from the call.
    package let hello: CallSocketHello

    private let connection: Connection
    /// The events that arrived while an answer was awaited.
    private var events: [[UInt8]] = []

    /// The part of a line by which events and answers are told apart.
    private struct LineKind: Decodable {
        var event: String?
    }

    /// Connects to a call.
    /// - Parameters:
    ///   - path: the path of the socket.
    ///   - seconds: the time limit.
    package init(path: String, within seconds: Double = 5) throws(CallSocketError) {
        let end = HostTime.now().advanced(bySeconds: seconds)
        let connection = Connection(try Self.connect(to: path, until: end))
        guard let line = try connection.nextLine(until: end) else { throw .noAnswer }
        guard let versions = CallJSON.decoded(CallSocketHello.Versions.self, from: line) else { throw .notACall }
        guard versions.version == CallSocket.version else {
            throw .otherProtocol(program: versions.earshot, version: versions.version)
        }
        guard let hello = CallJSON.decoded(CallSocketHello.self, from: line) else { throw .notACall }
        if let code = hello.error { throw .refused(ErrorDocument(code: code, text: hello.text ?? code)) }
        self.connection = connection
        self.hello = hello
    }

    /// Connects to a socket. While too many clients wait there, tries again until `end`.
    private static func connect(to path: String, until end: HostTime) throws(CallSocketError) -> CInt {
        while true {
            do throws(CallSocketError) {
                return try UnixSocket.connect(to: path)
            } catch {
                guard error == .noAnswer, HostTime.now() < end else { throw error }
                usleep(10_000)
            }
        }
    }

    /// Sends a request, and waits for the answer.
    /// - Parameter seconds: the time limit.
    /// - Returns: the answer of an executed request.
    package func request(_ request: CommandDocument, within seconds: Double = 5) throws(CallSocketError)
        -> CallSocketAnswer
    {
        let end = HostTime.now().advanced(bySeconds: seconds)
        try connection.send(CallJSON.line(request), until: end)
        while let line = try connection.nextLine(until: end) {
            guard CallJSON.decoded(LineKind.self, from: line)?.event == nil else {
                events.append(line)
                continue
            }
            guard let answer = CallJSON.decoded(CallSocketAnswer.self, from: line) else {
                throw .unreadableAnswer(program: hello.earshot)
            }
            if let refusal = answer.refusal { throw .refused(refusal) }
            return answer
        }
        throw .noAnswer
    }

    /// Performs a command that is not one to enter a room.
    package func perform(_ command: LiveCallCommand) throws(CallSocketError) {
        guard let document = CommandDocument(command) else {
            throw .refused(ErrorDocument(CommandDocumentError.unknownCommand(command.kind.rawValue)))
        }
        _ = try request(document)
    }

    /// Gives an order for the duet of the call.
    package func perform(_ order: DuetOrder) throws(CallSocketError) { _ = try request(CommandDocument(order)) }

    /// Returns the state of the call.
    package func status() throws(CallSocketError) -> StatusDocument {
        guard let status = try request(CommandDocument(command: "status")).status else {
            throw .unreadableAnswer(program: hello.earshot)
        }
        return status
    }

    /// Requests the events after a number; nil for all new events. ``nextEvent(within:)`` returns them.
    package func watch(after number: UInt64? = nil) throws(CallSocketError) {
        var request = CommandDocument(command: "watch")
        request.after = number
        _ = try self.request(request)
    }

    /// Returns the line of the next event; nil if there is none within the time limit.
    /// - Throws: ``CallSocketError/closed`` after the last event.
    package func nextEvent(within seconds: Double) throws(CallSocketError) -> [UInt8]? {
        if !events.isEmpty { return events.removeFirst() }
        return try connection.nextLine(until: .now().advanced(bySeconds: seconds))
    }
}

extension CallSocketClient {
    /// A connected socket and its received lines.
    private final class Connection {
        private let descriptor: CInt
        private var buffer = LineBuffer(limit: CallSocket.lineByteLimit)
        private var lines: [[UInt8]] = []

        init(_ descriptor: CInt) { self.descriptor = descriptor }

        deinit { UnixSocket.close(descriptor) }

        /// Returns the next line; nil at `end`.
        func nextLine(until end: HostTime) throws(CallSocketError) -> [UInt8]? {
            while lines.isEmpty {
                guard !buffer.isTooLong else { throw .notACall }
                guard wait(for: POLLIN, until: end) else { return nil }
                var bytes = [UInt8](repeating: 0, count: 65_536)
                let count = UnixSocket.receive(from: descriptor, into: &bytes)
                if UnixSocket.isTemporary(count) { continue }
                guard count > 0 else { throw .closed }
                lines += buffer.append(bytes[..<count])
            }
            return lines.removeFirst()
        }

        /// Sends a line.
        func send(_ line: [UInt8], until end: HostTime) throws(CallSocketError) {
            guard line.count <= CallSocket.requestByteLimit else { throw .lineTooLong }
            var rest = line + [UInt8(ascii: "\n")]
            while !rest.isEmpty {
                guard wait(for: POLLOUT, until: end) else { throw .noAnswer }
                let count = UnixSocket.send(rest, to: descriptor)
                if UnixSocket.isTemporary(count) { continue }
                guard count > 0 else { throw .closed }
                rest.removeFirst(count)
            }
        }

        /// Waits for an event of the socket. Returns false at `end`.
        private func wait(for event: CInt, until end: HostTime) -> Bool {
            while true {
                let milliseconds = max(0, end.seconds(since: .now())) * 1e3
                var polled = pollfd(fd: descriptor, events: Int16(event), revents: 0)
                let count = poll(&polled, 1, CInt(clamping: Int(milliseconds.rounded(.up))))
                // A signal, such as that of a terminal's new size, ends `poll` early.
                guard count < 0, errno == EINTR else { return count > 0 }
            }
        }
    }
}
