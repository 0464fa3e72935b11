// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport

/// Detects parts of a split room: the same room with another host or epoch.
struct PartitionDetector: Sendable {
    /// The identity of a part.
    struct Part: Hashable, Sendable {
        let epoch: Epoch
        let host: KeyFingerprint
    }

    /// The seconds in which a host that was cut off, whose room continued without it, notices that by itself.
    static let grace = 15.0
    private static let capacity = 16

    /// Anyone can announce a part, with another key each time.
    private var limiter = RateLimiter(4, inSeconds: 300)
    private var met: [(part: Part, since: HostTime, isReported: Bool)] = []

    /// Returns true if the user is to be told of a part: once for each, and a few in some minutes.
    /// - Parameter roster: the local roster. A part of an older epoch, whose host is in it, gets some time to come back.
    mutating func isNewPart(_ part: Part, roster: Roster, at now: HostTime) -> Bool {
        guard let index = met.firstIndex(where: { $0.part == part }) else {
            let mayComeBack = part.epoch < roster.epoch && roster.member(with: part.host) != nil
            guard mayComeBack || limiter.acquire(at: now) else { return false }
            met = met.suffix(Self.capacity - 1) + [(part, now, !mayComeBack)]
            return !mayComeBack
        }
        guard !met[index].isReported, now.seconds(since: met[index].since) >= Self.grace, limiter.acquire(at: now)
        else { return false }
        met[index].isReported = true
        return true
    }
}
