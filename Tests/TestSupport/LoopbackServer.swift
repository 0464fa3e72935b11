// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

/// A test's own server on loopback: real TCP, and any answer that the test writes, byte by byte.
///
/// Each connection has a thread, on which `answer` is called; then the connection is closed.
public final class LoopbackServer: Sendable {
    /// One connection.
    public struct Connection {
        let descriptor: CInt
        /// The request with its head.
        public let request: String
        /// Counted from 0.
        public let number: Int

        /// Sends bytes; false once the other side has closed.
        @discardableResult
        public func send(_ bytes: [UInt8]) -> Bool {
            var sent = 0
            while sent < bytes.count {
                let count = bytes.withUnsafeBytes { bytes in
                    bytes.baseAddress.map { Glibc.send(descriptor, $0 + sent, bytes.count - sent, CInt(MSG_NOSIGNAL)) }
                        ?? -1
                }
                guard count > 0 else { return false }
                sent += count
            }
            return true
        }

        /// Sends text; false once the other side has closed.
        @discardableResult
        public func send(_ text: String) -> Bool { send(Array(text.utf8)) }

        /// Returns the body after the head: as many bytes as `Content-Length` says.
        public func readBody() -> [UInt8] {
            let length = request.lowercased().components(separatedBy: "content-length:").dropFirst().first
                .flatMap { Int($0.prefix { $0 != "\r\n" }.trimmingCharacters(in: .whitespaces)) }
            var body = [UInt8](repeating: 0, count: length ?? 0)
            var read = 0
            while read < body.count {
                let count = body.withUnsafeMutableBytes { body in
                    body.baseAddress.map { recv(descriptor, $0 + read, body.count - read, 0) } ?? -1
                }
                guard count > 0 else { return Array(body[..<read]) }
                read += count
            }
            return body
        }

        /// Resets the connection, as if the network had failed.
        public func reset() {
            var option = linger(l_onoff: 1, l_linger: 0)
            setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        }
    }

    /// The port on 127.0.0.1.
    public let port: Int
    private let listener: CInt
    private let seen = Mutex<[String]>([])

    /// The requests so far.
    public var requests: [String] { seen.withLock { $0 } }

    /// Returns the address of a resource on it.
    public func address(_ path: String = "/live") -> String { "http://127.0.0.1:\(port)\(path)" }

    /// - Parameter answer: called on the connection's own thread.
    public init(_ answer: @escaping @Sendable (Connection) -> Void) throws {
        listener = socket(AF_INET, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listener = listener
        let ready = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) == 0 && listen(listener, 16) == 0 && getsockname(listener, $0, &length) == 0
            }
        }
        port = Int(UInt16(bigEndian: address.sin_port))
        guard ready else { throw POSIXError(.EADDRNOTAVAIL) }
        Thread.detachNewThread { [weak self] in
            var number = 0
            while case let descriptor = accept(listener, nil, nil), descriptor >= 0 {
                // A program that a test starts must not keep it open.
                _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
                let turn = number
                number += 1
                let server = self
                Thread.detachNewThread {
                    let request = Self.readHead(descriptor)
                    server?.seen.withLock { $0.append(request) }
                    answer(Connection(descriptor: descriptor, request: request, number: turn))
                    close(descriptor)
                }
            }
        }
    }

    deinit {
        shutdown(listener, CInt(SHUT_RDWR))
        close(listener)
    }

    private static func readHead(_ descriptor: CInt) -> String {
        var head: [UInt8] = []
        var byte: UInt8 = 0
        while head.count < 16_384, recv(descriptor, &byte, 1, 0) == 1 {
            head.append(byte)
            if head.suffix(4) == [13, 10, 13, 10] { break }
        }
        return String(decoding: head, as: UTF8.self)
    }
}

extension LoopbackServer.Connection {
    /// Sends a file, from the requested byte on.
    /// - Parameter hasRanges: true if it announces and supports ranges.
    public func send(file bytes: [UInt8], hasRanges: Bool = true) {
        let asked = request.components(separatedBy: "Range: bytes=").dropFirst().first?.prefix { $0.isNumber }
        let start = hasRanges ? min(bytes.count, asked.flatMap { Int($0) } ?? 0) : 0
        var head = "HTTP/1.1 \(start > 0 ? "206 Partial Content" : "200 OK")\r\nConnection: close\r\n"
        if hasRanges { head += "Accept-Ranges: bytes\r\n" }
        if start > 0 { head += "Content-Range: bytes \(start)-\(bytes.count - 1)/\(bytes.count)\r\n" }
        send(head + "Content-Length: \(bytes.count - start)\r\n\r\n")
        send(Array(bytes[start...]))
    }
}

extension LoopbackServer {
    /// Returns sound with SHOUTcast's metadata: after each `interval` bytes the text of that number, or none.
    public static func interleave(_ sound: [UInt8], interval: Int, texts: [Int: [UInt8]]) -> [UInt8] {
        var bytes: [UInt8] = []
        for (n, start) in stride(from: 0, to: sound.count, by: interval).enumerated() {
            let piece = sound[start..<min(sound.count, start + interval)]
            bytes += piece
            if piece.count < interval { break }
            let text = texts[n] ?? []
            let blocks = (text.count + 15) / 16
            bytes += [UInt8(blocks)] + text + [UInt8](repeating: 0, count: blocks * 16 - text.count)
        }
        return bytes
    }
}
