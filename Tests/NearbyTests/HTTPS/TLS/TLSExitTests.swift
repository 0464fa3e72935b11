// SPDX-License-Identifier: Apache-2.0

import Glibc
import NIOHTTP1
import TestTraits
import Testing

@testable import EarshotNearby

/// A process that exits while its HTTPS thread is working.
@Suite(.realTime(leastStandstill: 1), .timeLimit(.minutes(1))) struct TLSExitTests {
    @Test func `a process may exit during handshakes`() async {
        for _ in 0..<3 {
            await #expect(processExitsWith: .exitCode(7)) {
                // It runs after OpenSSL's own handler, which is registered later: OpenSSL's tables are freed by then.
                atexit { usleep(300_000) }
                let server = try await HTTPSServer(
                    address: .loopback, port: 0, identity: TestIdentity.server.identity)
                Task { await server.run { _ in HTTPResponse(headers: ["Connection": "close"]) } }
                // From here on only the HTTPS thread uses OpenSSL.
                let client = try client(of: server)
                await withTaskGroup { group in
                    for _ in 0..<4 {
                        group.addTask {
                            while true { _ = try? await client.send(.GET, "/") }
                        }
                    }
                    try? await Task.sleep(for: .milliseconds(200))
                    exit(7)
                }
            }
        }
    }
}
