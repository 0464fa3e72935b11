// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOHTTP1
import TestTraits
import Testing

@testable import EarshotNearby

/// Our server with curl as the client.
@Suite(.realTime(leastStandstill: 1), .timeLimit(.minutes(1))) struct HTTPSCurlTests {
    private static let echo: HTTPSServer.Handler = { request in
        let body = try await request.body.collect(upTo: 2_000_000)
        let key = request.clientKey.map { $0 == TestIdentity.client.publicKey ? "known" : "other" } ?? "none"
        return HTTPResponse(headers: ["X-Key": key, "X-Size": "\(body.count)"], content: .bytes(body))
    }

    private func curl(_ server: HTTPSServer, _ arguments: String..., path: String = "/") async throws -> String {
        let result = try await run(["curl", "-sSk", "--max-time", "10"] + arguments + [server.url + path])
        #expect(result.status == 0, "\(result.errors)")
        return result.output
    }

    @Test func `curl gets a response with and without a client certificate`() async throws {
        try await withServer(answering: Self.echo) { server async throws in
            #expect(try await curl(server, "-i", "-d", "hello").contains("X-Key: none"))
            let named = try await curl(
                server, "-i", "-d", "hello", "--cert", TestIdentity.client.certificate, "--key", TestIdentity.client.key
            )
            #expect(
                named.hasPrefix("HTTP/1.1 200 OK\r\n") && named.contains("X-Key: known") && named.hasSuffix("hello"))
            let other = try await curl(
                server, "-i", "--tls-max", "1.2", "--cert", TestIdentity.rsa.certificate, "--key", TestIdentity.rsa.key)
            #expect(other.contains("X-Key: other"))
        }
    }

    @Test func `curl gets no chunked response if its HTTP version does not support it`() async throws {
        try await withServer { request in
            HTTPResponse(content: .stream { for word in ["one ", "two"] { try await $0.write(Array(word.utf8)) } })
        } _: { server async throws in
            let old = try await curl(server, "-i", "--http1.0")
            #expect(old.hasPrefix("HTTP/1.0 200") && old.hasSuffix("\r\n\r\none two"))
            #expect(!old.lowercased().contains("chunked"))
            #expect(try await curl(server, "-i").lowercased().contains("transfer-encoding: chunked"))
        }
    }

    @Test func `curl uploads in chunks, and waits for 100 Continue`() async throws {
        let file = try await run(["mktemp"]).output.trimmingCharacters(in: .whitespacesAndNewlines)
        defer { unlink(file) }
        _ = try await run(["dd", "if=/dev/urandom", "of=\(file)", "bs=1000", "count=1500"])
        try await withServer(answering: Self.echo) { server async throws in
            let chunked = try await curl(
                server, "-D", "-", "-o", "/dev/null", "-T", file, "-H", "Transfer-Encoding: chunked")
            #expect(chunked.contains("X-Size: 1500000"))
            let expecting = try await curl(
                server, "-D", "-", "-o", "/dev/null", "-T", file, "-H", "Expect: 100-continue", "--expect100-timeout",
                "9")
            #expect(expecting.contains("HTTP/1.1 100 Continue") && expecting.contains("X-Size: 1500000"))
        }
        try await withServer { _ in
            throw HTTPProblem(status: .forbidden, code: "no", message: "no")
        } _: { server async throws in
            let refused = try await curl(
                server, "-D", "-", "-o", "/dev/null", "-T", file, "-H", "Expect: 100-continue", "--expect100-timeout",
                "9")
            #expect(refused.contains("403 Forbidden") && !refused.contains("100 Continue"))
        }
    }

    @Test func `curl reuses its connection, and responses to HEAD and with status 204 have no body`() async throws {
        try await withServer { request in
            switch request.target.path {
            case "/none": HTTPResponse(status: .noContent)
            case "/stream": HTTPResponse(content: .stream { try await $0.write(Array("x".utf8)) })
            default: HTTPResponse(content: .text("\(request.remoteAddress.port)\n"))
            }
        } _: { server async throws in
            let url = server.url
            let ports = try await curl(server, "\(url)/none", url, url).split(separator: "\n")
            #expect(ports.count == 3 && Set(ports).count == 1)
            #expect(try await curl(server, "-I", path: "/stream").hasPrefix("HTTP/1.1 200"))
        }
    }

    @Test func `a resumed TLS session identifies the client as well as a new one`() async throws {
        let asked = Tally()
        try await withServer { request in
            await asked.note(request.clientKey == TestIdentity.client.publicKey ? "known" : "unknown")
            return HTTPResponse(headers: ["Connection": "close"])
        } _: { server async throws in
            for version in ["-tls1_2", "-tls1_3"] {
                let session = "\(TestIdentity.client.key)\(version).session"
                for use in ["-sess_out", "-sess_in"] {
                    let client =
                        "openssl s_client -connect \(server.localAddress) \(version) \(use) \(session) -ign_eof"
                    let identity = "-cert \(TestIdentity.client.certificate) -key \(TestIdentity.client.key)"
                    let shell = "printf 'GET / HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n' | timeout 10 \(client) \(identity)"
                    #expect(try await run(["sh", "-c", shell]).output.contains("200 OK"))
                }
            }
        }
        #expect(await asked.words == ["known", "known", "known", "known"])
    }
}
