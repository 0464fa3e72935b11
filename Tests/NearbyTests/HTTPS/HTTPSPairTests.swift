// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import Foundation
import NIOHTTP1
import TestTraits
import Testing

@testable import EarshotNearby

/// Our client with our server.
@Suite(.realTime(leastStandstill: 1), .timeLimit(.minutes(1))) struct HTTPSPairTests {
    /// Returns the request in the response.
    static let echo: HTTPSServer.Handler = { request in
        let body = try await request.body.collect(upTo: 1_000_000)
        return HTTPResponse(
            headers: ["X-Said": "\(request.method) \(request.target.components)"], content: .bytes(body))
    }

    @Test func `a request is answered, and each side sees the other's key`() async throws {
        try await withServer { request in
            #expect(request.clientKey == TestIdentity.client.publicKey)
            #expect(request.remoteAddress.address == .loopback)
            return try await Self.echo(request)
        } _: { server async throws in
            let (head, body) = try await client(of: server).send(
                .POST, "/room/a%2Fb?x=1&y=%C3%A9", content: .text("hello"))
            #expect(head.status == .ok && String(decoding: body, as: UTF8.self) == "hello")
            #expect(head.headers.first(name: "x-said") == #"POST ["room", "a/b"]"#)
            #expect(head.serverKey == TestIdentity.server.publicKey && head.address == server.localAddress)
        }
    }

    @Test func `the server sees no key of a client without a certificate`() async throws {
        try await withServer { request in
            #expect(request.clientKey == nil)
            return HTTPResponse(status: .noContent)
        } _: { server async throws in
            #expect(try await client(of: server, nil).send(.GET, "/").head.status == .noContent)
        }
    }

    @Test func `RSA keys are accepted`() async throws {
        try await withServer(.rsa) { request in
            #expect(request.clientKey == TestIdentity.rsa.publicKey)
            return HTTPResponse()
        } _: { server async throws in
            let client = try client(of: server, .rsa, pinning: .rsa)
            #expect(try await client.send(.GET, "/").head.status == .ok)
        }
    }

    @Test(arguments: [0, 1, 65_535, 65_536, 65_537, 1_000_000])
    func `bodies of any size are transferred in both directions`(size: Int) async throws {
        let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        try await withServer(answering: Self.echo) { server async throws in
            let client = try client(of: server)
            for content in [HTTPContent.bytes(bytes), .stream { try await $0.write(bytes) }] {
                #expect(try await client.send(.PUT, "/", content: content, upTo: size).body == bytes)
            }
        }
    }

    @Test func `a server with the wrong key is refused before any request is sent`() async throws {
        let asked = Tally()
        try await withServer(.other) { _ in
            await asked.add()
            return HTTPResponse()
        } _: { server async throws in
            let expected = HTTPSError.wrongKey(
                server.localAddress, expected: name(of: TestIdentity.server.publicKey),
                found: name(of: TestIdentity.other.publicKey))
            await #expect(throws: expected) { try await client(of: server).send(.POST, "/", content: .text("secret")) }
            #expect(expected.description.contains(name(of: TestIdentity.other.publicKey)))
        }
        #expect(await asked.count == 0)
    }

    @Test func `a connection is reused for sequential requests, but not shared by concurrent ones`() async throws {
        let ports = Tally()
        try await withServer { request in
            await ports.note("\(request.remoteAddress.port)")
            return try await Self.echo(request)
        } _: { server async throws in
            let client = try client(of: server)
            for number in 0..<5 {
                #expect(try await client.send(.POST, "/\(number)", content: .text("x")).body.count == 1)
            }
            #expect(Set(await ports.words).count == 1)
            async let first = client.send(.GET, "/")
            async let second = client.send(.GET, "/")
            _ = try await (first, second)
        }
    }

    @Test func `a connection in use is kept open, and an idle one is closed`() async throws {
        let ports = Tally()
        try await withServer { request in
            await ports.note("\(request.remoteAddress.port)")
            return HTTPResponse()
        } _: { server async throws in
            var timeouts = HTTPSClient.Timeouts()
            timeouts.idle = .seconds(1)
            let client = try client(of: server, timeouts: timeouts)
            // The connection is kept for less than that between a request's beginning and the end of the next. If the machine
            // paused for as long, nothing is proven, and the test starts again.
            var (begin, last, first) = (ContinuousClock.now, ContinuousClock.now, 0)
            while ContinuousClock.now - begin < timeouts.idle * 1.3 {
                let start = ContinuousClock.now
                #expect(try await client.send(.GET, "/").head.status == .ok)
                if ContinuousClock.now - last >= timeouts.idle { (begin, first) = (start, await ports.words.count - 1) }
                last = start
                try await Task.sleep(for: .milliseconds(20))
            }
            #expect(Set(await ports.words[first...]).count == 1)
            #expect(await soon { server.table.count == 0 })
        }
    }

    @Test func `an idle connection closed by the server is replaced`() async throws {
        var limits = HTTPSLimits()
        limits.idleTimeout = .milliseconds(50)
        try await withServer(limits: limits, answering: Self.echo) { server async throws in
            let client = try client(of: server)
            for _ in 0..<3 {
                #expect(try await client.send(.GET, "/").head.status == .ok)
                #expect(await soon { server.table.count == 0 })
            }
        }
    }

    @Test func `a body that is too long gets status 413, and an unread one costs only the connection`() async throws {
        try await withServer { request in
            if request.target.path == "/ignored" { return HTTPResponse(status: .accepted) }
            _ = try await request.body.collect(upTo: 1_000)
            return HTTPResponse()
        } _: { server async throws in
            let client = try client(of: server)
            let large = HTTPContent.bytes([UInt8](repeating: 1, count: 300_000))
            #expect(try await client.send(.POST, "/", content: large).head.status == .payloadTooLarge)
            let stream = HTTPContent.stream {
                for _ in 0..<100 { try await $0.write([UInt8](repeating: 1, count: 1_000)) }
            }
            #expect(try await client.send(.POST, "/", content: stream).head.status == .payloadTooLarge)
            #expect(try await client.send(.POST, "/ignored", content: large).head.status == .accepted)
            #expect(try await client.send(.POST, "/", content: .text("short")).head.status == .ok)
        }
    }

    @Test func `an error thrown by a handler becomes a response without its internal text`() async throws {
        struct Secret: Error { let word = "hunter2" }
        try await withServer { request in
            if request.target.path == "/problem" {
                throw HTTPProblem(status: .locked, code: "room-full", message: "no \"room\"\nleft")
            }
            throw Secret()
        } _: { server async throws in
            let client = try client(of: server)
            let (head, body) = try await client.send(.GET, "/problem")
            #expect(head.status == .locked)
            let parsed = try JSONSerialization.jsonObject(with: Data(body)) as? [String: String]
            #expect(parsed == ["error": "room-full", "message": "no \"room\"\nleft"])
            let (other, words) = try await client.send(.GET, "/")
            #expect(other.status == .internalServerError && !String(decoding: words, as: UTF8.self).contains("hunter2"))
        }
    }

    @Test func `a request head that is too long gets status 431`() async throws {
        var limits = HTTPSLimits()
        limits.headSize = 2_000
        try await withServer(limits: limits, answering: Self.echo) { server async throws in
            let client = try client(of: server)
            let long = HTTPHeaders([("X-Long", String(repeating: "x", count: 3_000))])
            #expect(try await client.send(.GET, "/", headers: long).head.status == .requestHeaderFieldsTooLarge)
            #expect(try await client.send(.GET, "/").head.status == .ok)
        }
    }

    @Test func `line breaks cannot be injected into headers or request targets`() async throws {
        try await withServer { request in
            HTTPResponse(headers: ["X-Name": request.target.components.last ?? ""])
        } _: { server async throws in
            let client = try client(of: server)
            await #expect(throws: (any Error).self) { try await client.send(.GET, "/a%0D%0AX-Evil:%20b") }
            await #expect(throws: (any Error).self) { try await client.send(.GET, "/ HTTP/1.1\r\nX-Evil: b") }
            await #expect(throws: (any Error).self) {
                try await client.send(.GET, "/", headers: ["A": "b\r\nX-Evil: c"])
            }
            #expect(try await client.send(.GET, "/a").head.headers.first(name: "x-name") == "a")
        }
    }

    @Test func `a port already in use is named in the error`() async throws {
        try await withServer(answering: Self.echo) { server async throws in
            let port = server.localAddress.port
            let identity = try TestIdentity.server.identity
            await #expect(throws: HTTPSError.portInUse(port)) {
                try await HTTPSServer(address: .loopback, port: port, identity: identity)
            }
            await #expect(throws: HTTPSError.portInUse(port)) { try await HTTPSServer(port: port, identity: identity) }
            #expect(HTTPSError.portInUse(port).description.contains("\(port)"))
        }
        let identity = try TestIdentity.server.identity
        await #expect(throws: HTTPSError.addressNotAvailable(.v4(0xC000_0201))) {
            try await HTTPSServer(address: .v4(0xC000_0201), port: 0, identity: identity)
        }
    }

    @Test func `a key that does not match its certificate is refused`() async throws {
        let mixed = try TLSIdentity(
            certificatePEM: Array(try Data(contentsOf: URL(filePath: TestIdentity.server.certificate))),
            privateKeyPEM: Array(try Data(contentsOf: URL(filePath: TestIdentity.other.key))))
        await #expect { try await HTTPSServer(address: .loopback, port: 0, identity: mixed) } throws: {
            if case HTTPSError.unusableIdentity = $0 { true } else { false }
        }
        #expect { try TLSIdentity(certificatePEM: [1, 2], privateKeyPEM: []) } throws: {
            if case HTTPSError.unusableIdentity = $0 { true } else { false }
        }
    }

    @Test func `one port accepts both IPv4 and IPv6`() async throws {
        let server = try await HTTPSServer(port: 0, identity: TestIdentity.server.identity)
        async let running: Void = server.run { request in
            HTTPResponse(content: .text("\(request.remoteAddress.address)"))
        }
        for address in [IPAddress.loopback, .loopbackV6] {
            if address.isV6, !server.localAddress.address.isV6 { continue }
            let client = try client(of: [SocketAddress(address, port: server.localAddress.port)])
            do {
                let body = try await client.send(.GET, "/").body
                #expect(String(decoding: body, as: UTF8.self) == address.description)
            } catch HTTPSError.unreachable where address.isV6 {}  // a machine whose loopback has no IPv6
        }
        server.stop()
        await running
    }
}
