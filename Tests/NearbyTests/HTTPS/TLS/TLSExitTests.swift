import Glibc
import NIOHTTP1
import Testing

@testable import Nearby

/// A process that exits while its HTTPS thread is at work.
@Suite(.timeLimit(.minutes(2))) struct TLSExitTests {
    @Test func `a process may exit in the midst of a transfer`() async {
        for _ in 0..<3 {
            await #expect(processExitsWith: .exitCode(7)) {
                // Called after OpenSSL's own, which is registered later.
                atexit { usleep(300_000) }
                let piece = [UInt8](repeating: 7, count: 65_536)
                let identity = try TestIdentity.server.identity
                let server = try await HTTPSServer(address: .loopback, port: 0, identity: identity)
                Task {
                    await server.run { _ in
                        HTTPResponse(content: .stream { while true { try await $0.write(piece) } })
                    }
                }
                try await client(of: server).send(.GET, "/", timeout: nil) { answer in
                    var count = 0
                    for try await bytes in answer.body {
                        count += bytes.readableBytes
                        if count > 10_000_000 { exit(7) }
                    }
                }
            }
        }
    }
}
