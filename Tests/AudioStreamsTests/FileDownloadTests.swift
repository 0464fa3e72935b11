// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Foundation
import TestSupport
import Testing

@testable import EarshotAudioStreams

/// Files from a server on loopback, which breaks off, lies or never ends. Each turn of a download is 2 s later.
@Suite(.timeLimit(.minutes(2))) struct FileDownloadTests {
    private static let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 13) }

    private static func head(_ lines: String...) -> String { lines.joined(separator: "\r\n") + "\r\n\r\n" }

    /// Downloads a file. Returns its bytes, and the name that the server suggests.
    private func download(
        _ server: LoopbackServer, _ path: String = "/song.ogg", limit: Int = 1 << 20
    ) throws -> (bytes: [UInt8], name: String) {
        let file = NSTemporaryDirectory() + "earshot-download-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: file) }
        let download = try FileDownload(server.address(path), to: file, limit: limit)
        var now = HostTime(nanoseconds: 1)
        while try !download.work(at: now) { now = now.advanced(bySeconds: 2) }
        let attributes = try FileManager.default.attributesOfItem(atPath: file)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        let bytes = [UInt8](try #require(FileManager.default.contents(atPath: file)))
        #expect(download.byteCount == bytes.count)
        return (bytes, download.suggestedName)
    }

    @Test func `a file arrives whole, also by a redirect and in chunks, and its name is that of the last address`()
        throws
    {
        let server = try LoopbackServer { connection in
            switch connection.request.split(separator: " ")[1] {
            case "/moved": connection.send(Self.head("HTTP/1.1 302 Found", "Location: /Blue%20Moon.ogg?x=1"))
            case "/chunks":
                connection.send(Self.head("HTTP/1.1 200 OK", "Transfer-Encoding: chunked"))
                for start in stride(from: 0, to: Self.bytes.count, by: 60_000) {
                    connection.send(Array("\(String(60_000, radix: 16))\r\n".utf8))
                    connection.send(Array(Self.bytes[start..<start + 60_000]) + [13, 10])
                }
                connection.send("0\r\n\r\n")
            default: connection.send(file: Self.bytes)
            }
        }
        let plain = try download(server)
        #expect(plain.bytes == Self.bytes && plain.name == "song.ogg")
        let moved = try download(server, "/moved")
        #expect(moved.bytes == Self.bytes && moved.name == "Blue Moon.ogg")
        #expect(try download(server, "/chunks").bytes == Self.bytes)
        #expect(try download(server, "/%2e%2e%2f%2e%2e%2fetc%2fpasswd").name == "passwd")
    }

    @Test func `a broken transfer is taken up where it was`() throws {
        let server = try LoopbackServer { connection in
            guard connection.number < 3 else { return connection.send(file: Self.bytes) }
            let start = connection.number * 50_000
            let head = connection.number == 0 ? "HTTP/1.1 200 OK" : "HTTP/1.1 206 Partial Content"
            connection.send(
                Self.head(
                    head, "Content-Length: \(Self.bytes.count - start)", "Accept-Ranges: bytes",
                    "Content-Range: bytes \(start)-\(Self.bytes.count - 1)/\(Self.bytes.count)"))
            connection.send(Array(Self.bytes[start..<start + 50_000]))
        }
        #expect(try download(server).bytes == Self.bytes)
        #expect(server.requests.count == 4)
        for (number, request) in server.requests.enumerated() {
            #expect(request.contains("Range: bytes=\(number * 50_000)-") == (number > 0), "\(request)")
        }
    }

    @Test func `a transfer that stands still is broken off and taken up`() throws {
        let server = try LoopbackServer { connection in
            guard connection.number == 0 else { return connection.send(file: Self.bytes) }
            connection.send(Self.head("HTTP/1.1 200 OK", "Content-Length: \(Self.bytes.count)", "Accept-Ranges: bytes"))
            connection.send(Array(Self.bytes[..<1_000]))
            sleep(5)
        }
        #expect(try download(server).bytes == Self.bytes && server.requests.count == 2)
    }

    @Test func `a server without ranges, or with another version of the file, sends it anew`() throws {
        let old = [UInt8](repeating: 7, count: 300_000)
        func server(_ second: @escaping @Sendable (LoopbackServer.Connection) -> Void) throws -> LoopbackServer {
            try LoopbackServer { connection in
                guard connection.number == 0 else { return second(connection) }
                connection.send(Self.head("HTTP/1.1 200 OK", "Content-Length: \(old.count)", "ETag: \"1\""))
                connection.send(Array(old[..<50_000]))
            }
        }
        #expect(try download(server { $0.send(file: Self.bytes, hasRanges: false) }).bytes == Self.bytes)
        let changed = try server { connection in
            guard connection.request.contains("Range:") else { return connection.send(file: Self.bytes) }
            connection.send(
                Self.head(
                    "HTTP/1.1 206 Partial Content", "Content-Length: 250000", "ETag: \"2\"",
                    "Content-Range: bytes 50000-299999/300000"))
            connection.send(Array(Self.bytes[50_000...]))
        }
        #expect(try download(changed).bytes == Self.bytes && changed.requests.count == 3)
    }

    @Test func `a file that changes with each attempt is given up`() throws {
        let server = try LoopbackServer { connection in
            let tag = "ETag: \"\(connection.number)\""
            if connection.request.contains("Range:") {
                connection.send(
                    Self.head(
                        "HTTP/1.1 206 Partial Content", "Content-Length: 299000", tag,
                        "Content-Range: bytes 1000-299999/300000"))
            } else {
                connection.send(Self.head("HTTP/1.1 200 OK", "Content-Length: 300000", tag))
            }
            connection.send(Array(Self.bytes[..<1_000]))
        }
        #expect(throws: FileDownload.Failure.self) { try download(server) }
        #expect((4...12).contains(server.requests.count), "\(server.requests.count)")
    }

    @Test func `a file that never ends, or says that it is too large, is refused at the limit`() throws {
        let server = try LoopbackServer { connection in
            if connection.request.contains("/large") {
                connection.send(Self.head("HTTP/1.1 200 OK", "Content-Length: 100000000000"))
            } else {
                connection.send(Self.head("HTTP/1.1 200 OK"))
            }
            while connection.send(Self.bytes) {}
        }
        for path in ["/large", "/endless"] {
            #expect(throws: FileDownload.Failure.tooLarge(address: server.address(path), limit: 1 << 20)) {
                try download(server, path)
            }
        }
    }

    @Test func `a failure says what happened`() throws {
        let server = try LoopbackServer { connection in
            switch connection.request.split(separator: " ")[1] {
            case "/round": connection.send(Self.head("HTTP/1.1 302 Found", "Location: /round"))
            case "/file": connection.send(Self.head("HTTP/1.1 302 Found", "Location: file:///etc/passwd"))
            case "/live": connection.send(Self.head("HTTP/1.1 200 OK", "icy-name: Radio") + "sound")
            case "/reset": connection.reset()
            default: connection.send(Self.head("HTTP/1.1 404 Not Found", "Content-Length: 0"))
            }
        }
        func failure(_ path: String) throws -> FileDownload.Failure? {
            do { _ = try download(server, path) } catch let error as FileDownload.Failure { return error }
            return nil
        }
        let missing = AudioStreamError.refused(status: 404, address: server.address("/missing"))
        #expect(try failure("/missing") == .stream(missing))
        #expect(try failure("/round") == .stream(.tooManyRedirects(address: server.address("/round"))))
        #expect(try failure("/file") == .stream(.redirectRefused(address: server.address("/file"))))
        #expect(try failure("/live") == .endless(address: server.address("/live")))
        let count = server.requests.count
        guard case .stream(.unreachable)? = try failure("/reset") else { throw Unexpected() }
        #expect(server.requests.count == count + 4)
        #expect(throws: FileDownload.Failure.stream(.badAddress("ftp://x/a"))) {
            try FileDownload("ftp://x/a", to: "/nowhere", limit: 1)
        }
        #expect(throws: FileDownload.Failure.file(.missingFolder(path: "/nowhere/a"))) {
            try FileDownload("http://x/a", to: "/nowhere/a", limit: 1)
        }
    }

    private struct Unexpected: Error {}
}
