// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Foundation

@testable import EarshotLiveCall

/// A client that sends any bytes.
final class RawSocketClient {
    private let descriptor: CInt
    private var buffer = LineBuffer(limit: CallSocket.lineByteLimit)
    private var lines: [[UInt8]] = []
    private(set) var isClosed = false

    init(path: String) throws { descriptor = try UnixSocket.connect(to: path) }

    deinit { UnixSocket.close(descriptor) }

    /// Sends bytes until all are sent, or the call disconnects.
    func send(_ text: String) {
        var rest = Array(text.utf8)
        for _ in 0..<2_000 where !rest.isEmpty {
            let count = UnixSocket.send(rest, to: descriptor)
            if count > 0 {
                rest.removeFirst(count)
            } else if UnixSocket.isTemporary(count) {
                usleep(5_000)
            } else {
                return
            }
        }
    }

    /// Sends nothing more.
    func endInput() { shutdown(descriptor, CInt(SHUT_WR)) }

    /// Returns the next line; nil if the call disconnects, or after ten seconds.
    func line() -> String? {
        for _ in 0..<2_000 {
            if !lines.isEmpty { return String(decoding: lines.removeFirst(), as: UTF8.self) }
            guard !isClosed else { return nil }
            var bytes = [UInt8](repeating: 0, count: 65_536)
            let count = UnixSocket.receive(from: descriptor, into: &bytes)
            if count > 0 {
                lines += buffer.append(bytes[..<count])
            } else if UnixSocket.isTemporary(count) {
                usleep(5_000)
            } else {
                isClosed = true
            }
        }
        return nil
    }

    /// Returns the code of the error in the next line; nil if the line has none.
    func errorCode() -> String? {
        line().flatMap { CallJSON.decoded(CallSocketAnswer.self, from: Array($0.utf8)) }?.error
    }
}

/// A program that listens like a call, and says only one line.
final class FalseCall {
    private let listener: CInt
    private let thread: ServiceThread

    init(path: String, line: String) throws {
        let listener = try UnixSocket.listen(at: path)
        self.listener = listener
        let thread = ServiceThread(name: "false call", interval: 5) {
            let client = UnixSocket.accept(listener)
            guard client >= 0 else { return true }
            var rest = Array((line + "\n").utf8)[...]
            while !rest.isEmpty {
                let count = UnixSocket.send(Array(rest.prefix(65_536)), to: client)
                if count > 0 {
                    rest = rest.dropFirst(count)
                } else if UnixSocket.isTemporary(count) {
                    usleep(1_000)
                } else {
                    break
                }
            }
            return true  // the connection stays open
        }
        self.thread = thread
        guard thread.start() == 0 else { throw CallSocketError.noThread(code: EAGAIN) }
    }

    deinit {
        thread.stop()
        UnixSocket.close(listener)
    }
}

/// A folder for sockets that is deleted with the test. Its path is short, since that of a socket is limited.
final class SocketFolder {
    let path = "/tmp/earshot-\(getpid())-\(UInt32.random(in: 0 ... .max))"

    init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    var sockets: CallSocketFolder { CallSocketFolder(path: "\(path)/earshot") }
}
