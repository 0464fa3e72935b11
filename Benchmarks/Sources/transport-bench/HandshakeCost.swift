// SPDX-License-Identifier: Apache-2.0

import BenchReports
import EarshotAudioBase
import Foundation
import PairedTimes

@testable import EarshotMediaTransport

/// The cost of a handshake for both ends together, compared with its public-key operations alone.
struct HandshakeCost {
    private static let rounds = 25

    static func reports() throws -> [Report] {
        let date = Int64(Date.now.timeIntervalSince1970)
        let (anna, bert) = (try Identity.generate(at: date), try Identity.generate(at: date))
        let message = [UInt8](repeating: 7, count: 32)
        let times = Paired(repetitions: 15, operations: rounds) {
            for _ in 0..<rounds { guard isSecured(anna, bert) else { fatalError("no session") } }
        } theirs: {
            // Each side signs once and verifies once.
            for _ in 0..<rounds {
                guard anna.publicKey.isValid(signature: anna.sign(message), for: message),
                    bert.publicKey.isValid(signature: bert.sign(message), for: message)
                else { fatalError("a signature") }
            }
        }
        return [
            Report(
                "handshake of both ends", times.ours / 1_000_000, "ms", .atMost(20),
                against: "the two signatures in it, made and checked: \(decimal(times.theirs / 1_000_000, 2)) ms"),
            Report("handshake: times its signatures", times.ratio, "times", against: "libcrypto, in turn"),
        ]
    }

    /// Two sessions without a network between them.
    private static func isSecured(_ anna: Identity, _ bert: Identity) -> Bool {
        let now = HostTime(nanoseconds: 0)
        guard let client = try? DTLSSession(role: .client, identity: anna, peer: bert.certificateFingerprint),
            let server = try? DTLSSession(role: .server, identity: bert, peer: anna.certificateFingerprint)
        else { return false }
        var (toServer, toClient): ([[UInt8]], [[UInt8]]) = ([], [])
        client.start(at: now) { toServer.append(Array($0)) }
        while !toServer.isEmpty {
            for datagram in toServer {
                datagram.withUnsafeBytes {
                    server.receive($0, at: now, transmit: { toClient.append(Array($0)) }, message: { _ in })
                }
            }
            toServer = []
            for datagram in toClient {
                datagram.withUnsafeBytes {
                    client.receive($0, at: now, transmit: { toServer.append(Array($0)) }, message: { _ in })
                }
            }
            toClient = []
        }
        return client.peerKey != nil && server.peerKey != nil
    }
}
