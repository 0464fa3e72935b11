// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport

/// The host's side of a PIN: issues nonces, verifies proofs, and limits wrong ones.
struct PINVerifier: Sendable {
    /// The verdict on a proof.
    enum Verdict: Equatable {
        /// The PIN is right; `hostProof` is the host's proof.
        case right(hostProof: [UInt8])
        case wrong(attemptsLeft: Int)
        /// There were too many wrong proofs; the value is the seconds until the next is verified.
        case tooMany(retryAfter: Double)
    }

    private let key: PINKey
    private let secret: [UInt8]
    private var attempts = PINAttempts()

    /// - Parameter secret: 32 random bytes, from which the nonces are derived.
    init(_ key: PINKey, secret: [UInt8]) {
        self.key = key
        self.secret = secret
    }

    /// The seconds for which a nonce is issued; it is accepted for as long again.
    static let noncePeriod = 120.0

    /// Returns the current nonce. All guests get the same nonce, because a proof also contains the guest's key and is useless to
    /// others.
    func nonce(at now: HostTime) -> [UInt8] { nonce(number: periodNumber(at: now)) }

    /// Verifies a proof, unless there were too many wrong ones.
    /// - Parameters:
    ///   - guest: the parameter of ``PINKey/proof(by:nonce:guest:)``.
    ///   - key: the guest's verified key; nil for a browser.
    ///   - isKnown: true for a member, or if a user admitted this key before; then the limit of all wrong proofs does not apply.
    mutating func check(
        _ proof: [UInt8], guest: [UInt8], key guestKey: KeyFingerprint?, address: IPAddress, isKnown: Bool,
        at now: HostTime
    ) -> Verdict {
        if let wait = attempts.wait(guestKey, address, isKnown: isKnown, at: now) { return .tooMany(retryAfter: wait) }
        let currentNumber = periodNumber(at: now)
        for number in [currentNumber, max(0, currentNumber - 1)] {
            let nonce = nonce(number: number)
            if Digest.isEqual(proof, key.proof(by: .guest, nonce: nonce, guest: guest)) {
                return .right(hostProof: key.proof(by: .host, nonce: nonce, guest: guest))
            }
        }
        return .wrong(attemptsLeft: attempts.failed(guestKey, address, at: now))
    }

    private func periodNumber(at now: HostTime) -> Int64 { max(0, now.nanoseconds) / Int64(Self.noncePeriod * 1e9) }

    private func nonce(number: Int64) -> [UInt8] {
        let counter = (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * Int64($0))) }
        return Array(Digest.hmacSHA256(Array("nonce".utf8) + counter, key: secret).prefix(PINKey.nonceSize))
    }
}

/// The wrong proofs of the last ten minutes. No proof is verified after five of its key, five of its address, or fifty in all;
/// only the last limit does not apply to known keys.
package struct PINAttempts: Sendable {
    /// The seconds for which a wrong proof counts.
    package static let window = 600.0
    /// The maximum wrong proofs of a key, and from an address.
    static let limit = 5
    static let totalLimit = 50
    /// The maximum stored wrong proofs; more than ``totalLimit``, which known keys may exceed.
    static let capacity = 256

    private struct Failure {
        let key: KeyFingerprint?
        let address: IPAddress
        let time: HostTime
    }

    private var failures: [Failure] = []

    var count: Int { failures.count }

    /// Returns the seconds until a proof of this key from this address is verified; nil if it is verified now.
    func wait(_ key: KeyFingerprint?, _ address: IPAddress, isKnown: Bool, at now: HostTime) -> Double? {
        let recent = failures.filter { now.seconds(since: $0.time) < Self.window }
        var ownFailures = [recent.filter { $0.address == address }]
        if let key { ownFailures.append(recent.filter { $0.key == key }) }
        var times: [HostTime] = ownFailures.filter { $0.count >= Self.limit }.map { $0[$0.count - Self.limit].time }
        if !isKnown, recent.count >= Self.totalLimit { times.append(recent[recent.count - Self.totalLimit].time) }
        return times.map { Self.window - now.seconds(since: $0) }.max()
    }

    /// Counts a wrong proof.
    /// - Returns: the remaining tries of this key and address.
    mutating func failed(_ key: KeyFingerprint?, _ address: IPAddress, at now: HostTime) -> Int {
        failures.removeAll { now.seconds(since: $0.time) >= Self.window }
        if failures.count >= Self.capacity { failures.removeFirst() }
        failures.append(Failure(key: key, address: address, time: now))
        let countAtAddress = failures.count { $0.address == address }
        let countOfKey = key == nil ? 0 : failures.count { $0.key == key }
        return max(0, Self.limit - max(countAtAddress, countOfKey))
    }
}
