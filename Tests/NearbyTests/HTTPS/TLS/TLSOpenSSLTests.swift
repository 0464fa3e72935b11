// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import Foundation
import NIOHTTP1
import TestSupport
import TestTraits
import Testing

@testable import EarshotNearby

/// Our server with `openssl s_client`, and our client with `openssl s_server`.
@Suite(.realTime(leastStandstill: 1), .timeLimit(.minutes(1))) struct TLSOpenSSLTests {
    private static let request = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"

    /// Runs openssl with input from the test. A line of it that begins with certain letters is a command.
    private final class Tool: Sendable {
        let process: ChildProcess
        private let input: CInt
        private let path: String

        init(_ arguments: String) throws {
            path = "\(NSTemporaryDirectory())earshot-openssl-\(UUID().uuidString)"
            guard mkfifo(path, 0o600) == 0 else { throw CocoaError(.fileWriteUnknown) }
            // Also open for reading, so that neither side waits for the other to open it.
            input = open(path, O_RDWR | O_CLOEXEC)
            process = try ChildProcess(["sh", "-c", "exec openssl \(arguments) <\(path)"])
        }

        deinit {
            close(input)
            unlink(path)
        }

        func type(_ text: String) { _ = write(input, text, text.utf8.count) }

        /// Returns true if the program prints the text this many times before the timeout.
        func prints(_ text: String, _ count: Int = 1) async -> Bool {
            let (process, text) = (process, text)
            return await soon { (process.output + process.errors).components(separatedBy: text).count > count }
        }
    }

    @Test(arguments: ["-tls1_2", "-tls1_3"], ["", "-servername room.example"])
    func `s_client connects with either TLS version and any server name`(version: String, name: String) async throws {
        try await withServer { request in
            HTTPResponse(content: .text(request.clientKey == TestIdentity.client.publicKey ? "known" : "unknown"))
        } _: { server async throws in
            let identity = "-cert \(TestIdentity.client.certificate) -key \(TestIdentity.client.key)"
            let alpn = "-alpn h2,http/1.1"
            let tool = try Tool("s_client -connect \(server.localAddress) \(version) \(name) \(identity) \(alpn)")
            tool.type(Self.request)
            #expect(await tool.prints("known"))
            #expect(await tool.prints("ALPN protocol: http/1.1"))
            #expect(await tool.prints(version == "-tls1_2" ? "TLSv1.2" : "TLSv1.3"))
            // Q: it sends its close_notify.
            tool.type("Q\n")
            #expect(await soon { tool.process.processID == nil })
            #expect(await soon { server.table.count == 0 })
        }
    }

    @Test func `an unknown ALPN protocol does not prevent a connection`() async throws {
        try await withServer { _ in
            HTTPResponse(content: .text("fine"))
        } _: { server async throws in
            let tool = try Tool("s_client -connect \(server.localAddress) -alpn h2")
            tool.type(Self.request)
            #expect(await tool.prints("fine"))
            #expect(await tool.prints("No ALPN negotiated"))
        }
    }

    @Test(arguments: ["k", "K"])
    func `s_client may update its keys and request an update of the server's`(command: String) async throws {
        try await withServer { _ in
            HTTPResponse(content: .text("fine"))
        } _: { server async throws in
            let tool = try Tool("s_client -connect \(server.localAddress) -tls1_3")
            tool.type(Self.request)
            #expect(await tool.prints("fine"))
            for number in 2...4 {
                tool.type("\(command)\n")
                #expect(await tool.prints("KEYUPDATE", number - 1))
                tool.type(Self.request)
                #expect(await tool.prints("fine", number))
            }
        }
    }

    @Test func `a renegotiation by s_client is refused, and other clients are not affected`() async throws {
        let asked = Tally()
        try await withServer { _ in
            await asked.add()
            return HTTPResponse(content: .text("fine"))
        } _: { server async throws in
            let tool = try Tool("s_client -connect \(server.localAddress) -tls1_2")
            tool.type(Self.request)
            #expect(await tool.prints("fine"))
            tool.type("R\n")
            #expect(await tool.prints("RENEGOTIATING"))
            #expect(await tool.prints("no renegotiation"))
            #expect(await soon { tool.process.processID == nil })
            #expect(await asked.count == 1)
            #expect(try await client(of: server).send(.GET, "/").head.status == .ok)
        }
    }

    @Test(arguments: ["-tls1_2", "-tls1_3"])
    func `a request from a client that is killed is reported as truncated`(version: String) async throws {
        let seen = Tally()
        try await withServer { request in
            if request.method == .GET { return HTTPResponse(content: .text("fine")) }
            do {
                for try await piece in request.body { await seen.note(String(buffer: piece)) }
                await seen.note("whole")
            } catch {
                await seen.note("\(error)")
                throw error
            }
            return HTTPResponse()
        } _: { server async throws in
            let tool = try Tool("s_client -connect \(server.localAddress) \(version)")
            // The process must have read all bytes: a kill with unread bytes resets the connection.
            tool.type(Self.request)
            #expect(await tool.prints("fine"))
            tool.type("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n")
            #expect(await soon { await seen.words == ["half"] })
            tool.process.signal(SIGKILL)
            #expect(await soon { await seen.words.count == 2 })
            #expect(await seen.words.last == "\(TLSError.truncated)")
        }
    }

    @Test(arguments: [("-tls1_2", "TLSv1.2"), ("-tls1_3", "TLSv1.3")])
    func `the client connects to s_server with either TLS version`(option: String, name: String) async throws {
        let (tool, address) = try await server("-www \(option) -Verify 1 -CAfile \(TestIdentity.client.certificate)")
        let body = try await client(of: [address]).send(.GET, "/").body
        #expect(tool.process.processID != nil)
        let page = String(decoding: body, as: UTF8.self)
        #expect(page.contains("Protocol  : \(name)") && page.contains("</pre></BODY></HTML>"))
        #expect(page.contains(try String(contentsOfFile: TestIdentity.client.certificate, encoding: .utf8)))
    }

    @Test(arguments: ["k", "K"])
    func `s_server may update its keys in the middle of a response`(command: String) async throws {
        let (tool, address) = try await server("-tls1_3 -msg")
        let read = Tally()
        let client = try client(of: [address])
        async let answer: Void = client.send(.GET, "/") { answer in
            for try await piece in answer.body { await read.note(String(buffer: piece)) }
        }
        #expect(await tool.prints("Host: \(address)"))
        tool.type("HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\nfirst\n")
        #expect(await soon { await read.words == ["first\n"] })
        tool.type("\(command)\n")
        #expect(await tool.prints("KeyUpdate"))
        tool.type("second")
        try await answer
        #expect(await read.words.joined() == "first\nsecond")
        // With K it has requested our new keys: the next request on this connection uses them.
        async let status = client.send(.GET, "/again").head.status
        #expect(await tool.prints("/again"))
        tool.type("HTTP/1.1 204 No Content\r\n\r\n")
        #expect(try await status == .noContent)
    }

    @Test(arguments: ["-tls1_2", "-tls1_3"])
    func `no request is sent to an s_server with the wrong key`(version: String) async throws {
        let (tool, address) = try await server(version, .other)
        await #expect(throws: HTTPSError.self) { try await client(of: [address]).send(.GET, "/secret") }
        #expect(await tool.prints("ERROR"))
        #expect(!tool.process.output.contains("secret"))
    }

    @Test func `an s_server that only supports an old TLS version is reported`() async throws {
        let (tool, address) = try await server("-tls1_1 -cipher ALL:@SECLEVEL=0")
        await #expect {
            try await client(of: [address]).send(.GET, "/")
        } throws: {
            if case HTTPSError.handshakeFailed(address, let words) = $0 { words.contains("protocol") } else { false }
        }
        #expect(tool.process.processID != nil)
    }

    private func server(_ options: String, _ identity: TestIdentity = .server) async throws -> (Tool, SocketAddress) {
        let files = "-cert \(identity.certificate) -key \(identity.key)"
        let tool = try Tool("s_server -accept 127.0.0.1:0 \(files) \(options)")
        #expect(await tool.prints("ACCEPT 127.0.0.1:"))
        let line = try #require(tool.process.output.split(separator: "\n").first { $0.hasPrefix("ACCEPT") })
        let port = try #require(line.split(separator: ":").last.flatMap { UInt16($0) })
        return (tool, SocketAddress(.loopback, port: port))
    }
}
