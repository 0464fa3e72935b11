// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import EarshotRooms
import Foundation
import NIOHTTP1
import TestSupport
import TestTraits
import Testing

@testable import EarshotNearby

/// Our server with clients that are slow, many, stopped or not clients at all.
@Suite(.realTime(leastStandstill: 1), .timeLimit(.minutes(1))) struct HTTPSHostilePeerTests {
    private static let answer: HTTPSServer.Handler = { request in
        _ = try await request.body.collect(upTo: 1_000)
        return HTTPResponse(content: .text("fine"))
    }

    /// Sends bytes through TLS. Returns what comes back until the server closes the connection.
    private static func exchange(_ server: HTTPSServer, _ text: String) async throws -> String {
        let text = text.replacing("\r", with: "\\r").replacing("\n", with: "\\n").replacing("%", with: "%%")
        let client = "timeout 10 openssl s_client -quiet -connect \(server.localAddress)"
        return try await run(["sh", "-c", "printf '\(text)' | \(client)"]).output
    }

    @Test(arguments: [
        ("nonsense\r\n\r\n", "400"), ("GET / HTTP/1.1\r\nno colon\r\n\r\n", "400"),
        ("GET noslash HTTP/1.1\r\nHost: a\r\n\r\n", "400"), ("GET /%zz HTTP/1.1\r\nConnection: close\r\n\r\n", "400"),
        ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "400"), ("GET / HTTP/2.0\r\n\r\n", "505"),
        ("POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", "400"),
        ("POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", "400"),
        ("POST / HTTP/1.1\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "400"),
        ("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", "400"),
        ("GET / HTTP/1.1\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n", "200"),
        ("GET / HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\nConnection: close\r\n\r\n", "200"),
    ])
    func `a malformed request inside TLS gets an HTTP error, and the server keeps running`(text: String, status: String)
        async throws
    {
        try await withServer(answering: Self.answer) { server async throws in
            #expect(try await Self.exchange(server, text).hasPrefix("HTTP/1.1 \(status) "))
            #expect(try await client(of: server).send(.GET, "/").head.status == .ok)
            #expect(await soon { server.table.count <= 1 })
        }
    }

    @Test func `garbage in place of TLS ends only its own connection`() async throws {
        try await withServer(answering: Self.answer) { server async throws in
            let shell = "printf 'GET / HTTP/1.1\\r\\n\\r\\n' | timeout 10 curl -s telnet://\(server.localAddress)"
            #expect(try await run(["sh", "-c", shell]).output == "")
            let old =
                "timeout 10 openssl s_client -tls1_1 -cipher ALL:@SECLEVEL=0 -connect \(server.localAddress) </dev/null"
            #expect(try await run(["sh", "-c", old]).status != 0)
            #expect(try await client(of: server).send(.GET, "/").head.status == .ok)
        }
    }

    @Test func `the server requests only client certificates issued by Earshot`() async throws {
        try await withServer(answering: Self.answer) { server async throws in
            let shell = "timeout 10 openssl s_client -connect \(server.localAddress) </dev/null"
            let output = try await run(["sh", "-c", shell]).output
            #expect(output.contains("Acceptable client certificate CA names\nCN = Earshot\n"))
        }
    }

    @Test(arguments: [
        "", "printf 'GET / HTTP/1.1\\r\\n'; sleep 60", "printf 'GET /'; while printf x; do sleep 0.02; done",
    ])
    func `a client that never finishes its TLS handshake or request head is disconnected`(script: String) async throws {
        var limits = HTTPSLimits()
        limits.headTimeout = .seconds(1)
        try await withServer(limits: limits, answering: Self.answer) { server async throws in
            // The first does not even begin TLS.
            let peer =
                script.isEmpty
                ? "sleep 60 | curl -s telnet://\(server.localAddress)"
                : "(\(script)) | openssl s_client -quiet -connect \(server.localAddress)"
            let child = try ChildProcess(["sh", "-c", peer])
            #expect(await soon { server.table.count == 1 })
            #expect(await soon { server.table.count == 0 })
            child.stop()
        }
    }

    @Test func `a request body that does not arrive in time gets status 408`() async throws {
        var limits = HTTPSLimits()
        limits.bodyTimeout = .milliseconds(200)
        try await withServer(limits: limits, answering: Self.answer) { server async throws in
            let text = "POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\nab"
            #expect(try await Self.exchange(server, text).hasPrefix("HTTP/1.1 408 "))
        }
    }

    @Test func `the number of connections from one address is limited`() async throws {
        var limits = HTTPSLimits()
        limits.connectionsPerAddress = 8
        try await withServer(limits: limits) { request in
            guard request.target.path == "/hold" else { return HTTPResponse() }
            return .events {
                try await $0.write(ServerSentEvent.keepAlive)
                try await Task.sleep(for: .seconds(600))
            }
        } _: { server async throws in
            let held = Tally()
            let cut = Tally()
            let client = try client(of: server)
            await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<200 {
                    group.addTask {
                        do {
                            try await client.send(.GET, "/hold", timeout: nil) { answer in
                                await held.add()
                                for try await _ in answer.body {}
                            }
                        } catch HTTPSError.cut {
                            await cut.add()
                        } catch is CancellationError {}
                    }
                }
                #expect(await soon { await cut.count == 192 })
                #expect(await held.count == 8 && server.table.count == 8)
                group.cancelAll()
            }
            #expect(await soon { server.table.count == 0 })
            #expect(try await client.send(.GET, "/").head.status == .ok)
        }
    }

    @Test func `if all connections are in use, the one idle the longest without a request is closed`() async throws {
        var limits = HTTPSLimits()
        limits.connections = 4
        try await withServer(limits: limits) { request in
            guard request.target.path == "/hold" else { return HTTPResponse() }
            return .events {
                try await $0.write(ServerSentEvent.keepAlive)
                try await Task.sleep(for: .seconds(600))
            }
        } _: { server async throws in
            let held = Tally()
            let holding = Task { [client = try client(of: server)] in
                try await client.send(.GET, "/hold", timeout: nil) { answer in
                    for try await _ in answer.body { await held.add() }
                }
            }
            #expect(await soon { await held.count == 1 })
            let idle = try (0..<3).map { _ in
                try ChildProcess(["sh", "-c", "sleep 60 | curl -s telnet://\(server.localAddress)"])
            }
            #expect(await soon { server.table.count == 4 })
            let member = try client(of: server)
            for _ in 0..<3 { #expect(try await member.send(.GET, "/").head.status == .ok) }
            #expect(await held.count == 1 && server.table.count == 4)
            holding.cancel()
            for child in idle { child.stop() }
            member.close()
            #expect(await soon { server.table.count == 0 })
        }
    }

    @Test func `a stopped client does not affect others, and is disconnected`() async throws {
        var limits = HTTPSLimits()
        limits.writeTimeout = .milliseconds(500)
        let (begun, begin) = AsyncStream.makeStream(of: Void.self)
        try await withServer(limits: limits) { request in
            guard request.target.path == "/flood" else { return HTTPResponse() }
            return HTTPResponse(
                content: .stream { writer in
                    begin.yield()
                    while true { try await writer.write([UInt8](repeating: 7, count: 65_536)) }
                })
        } _: { server async throws in
            let curl = try ChildProcess(["curl", "-skN", "\(server.url)/flood"], standardOutput: "/dev/null")
            // If it were stopped during the handshake, curl would have that limit of 10 s.
            for await _ in begun { break }
            #expect(server.table.count == 1)
            curl.signal(SIGSTOP)
            let client = try client(of: server)
            for _ in 0..<20 { #expect(try await client.send(.GET, "/").head.status == .ok) }
            client.close()
            #expect(await soon { server.table.count == 0 })
            curl.signal(SIGCONT)
            #expect(await soon { curl.processID == nil })
        }
    }
}
