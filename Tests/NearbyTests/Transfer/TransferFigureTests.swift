// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import Foundation
import NIOHTTP1
import Testing

@testable import EarshotNearby

/// Measures a file of 200 MB on loopback and in memory, compared with curl and openssl. The figures are printed if
/// EARSHOT_FIGURES is set.
@Suite(.timeLimit(.minutes(10))) struct TransferFigureTests {
    private static let size = 200_000_000

    @Test(.enabled(if: ProcessInfo.processInfo.environment["EARSHOT_FIGURES"] != nil))
    func `two hundred megabytes are sent and verified`() async throws {
        try await withFolder(in: "/dev/shm/") { folder in
            let bytes = noise(Self.size)
            try write(bytes, to: "\(folder)/x")
            let hash = SHA256Digest(of: bytes).hex
            mkdir("\(folder)/here", 0o700)
            try await withPair { _, a, b in
                for _ in 0..<3 {
                    let begin = ContinuousClock.now
                    let sending = try await a.transfers.sendFile(at: "\(folder)/x", to: [b.id])
                    let file = try await b.file()
                    let offered = ContinuousClock.now
                    try await file.accept(into: "\(folder)/here")
                    let path = try await file.finished()
                    try await sending.finished()
                    Self.notify("sendFile: hash", offered - begin)
                    Self.notify("sendFile: sent, verified, on the disk", .now - offered)
                    unlink(path)
                }
                try Data(a.identity.certificatePEM.utf8).write(to: URL(filePath: "\(folder)/a.crt"))
                try Data(a.identity.privateKeyPEM.utf8).write(to: URL(filePath: "\(folder)/a.key"))
                let curl = [
                    "curl", "-sk", "--cert", "\(folder)/a.crt", "--key", "\(folder)/a.key", "-H", "Earshot-Number: 1-1",
                    "\(b.server.url)/files/\(hash)",
                ]
                async let offered = run(curl + ["-d", #"{"version":1,"name":"x","size":\#(Self.size)}"#], seconds: 60)
                let file = try await b.file()
                try await file.accept(into: "\(folder)/here")
                _ = try await offered
                let begin = ContinuousClock.now
                let put = try await run(curl + ["-H", "Earshot-Offset: 0", "-T", "\(folder)/x"], seconds: 60)
                Self.notify("curl -T to the same server", .now - begin)
                #expect(put.status == 0 && put.output == "")
                #expect(try await file.finished() == "\(folder)/here/x")
            }
            try await Self.openssl(folder)
        }
    }

    /// Without a hash and without a file at the remote peer.
    private static func openssl(_ folder: String) async throws {
        let port = 20_000 + Int.random(in: 0..<10_000)
        let script = """
            cd \(folder)
            sleep 50 | timeout 50 openssl s_server -accept \(port) -cert a.crt -key a.key -quiet > copy 2>/dev/null & server=$!
            sleep 0.5
            begin=$(date +%s%N)
            (cat x; sleep 50) | timeout 50 openssl s_client -connect 127.0.0.1:\(port) -quiet > answer 2>&1 & client=$!
            for try in $(seq 4000); do [ "$(stat -c %s copy)" = \(size) ] && break; sleep 0.005; done
            end=$(date +%s%N)
            kill $server $client
            [ "$(stat -c %s copy)" = \(size) ] && echo $((end - begin))
            """
        let result = try await run(["bash", "-c", script], seconds: 60)
        let time = Duration.nanoseconds(Int64(result.output.filter(\.isNumber)) ?? 0)
        notify("cat x | openssl s_client, s_server > copy", time)
    }

    private static func notify(_ what: String, _ time: Duration) {
        let seconds = time / .seconds(1)
        print(String(format: "%@: %.2f s, %.0f MB/s", what, seconds, Double(size) / seconds / 1e6))
    }
}
