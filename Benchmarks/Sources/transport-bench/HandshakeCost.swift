import AudioBase
import BenchReports
import CCrypto
import MediaTransport
import PairedTimes

/// What a handshake costs both ends together, beside the public-key work that is in it.
struct HandshakeCost {
    private static let rounds = 25

    static func reports() throws -> [Report] {
        let anna = try Identity.generate(at: 1_795_305_600)
        let bert = try Identity.generate(at: 1_795_305_600)
        let message = [UInt8](repeating: 7, count: 32)
        let times = Paired(repetitions: 15, operations: rounds) {
            for _ in 0..<rounds {
                guard let peers = try? Peers(anna, bert) else { fatalError("no session") }
                peers.shakeHands()
            }
        } theirs: {
            // Each side signs once and checks once.
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
}
