// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport

/// Detects parts of a split room: the same room with another host or epoch.
struct PartitionDetector: Sendable {
    /// The identity of a part of a split room: its epoch and its host's key.
    struct Part: Hashable, Sendable {
        let epoch: Epoch
        let host: KeyFingerprint
    }

    /// The seconds until a part of an older epoch is reported. Within them, its host usually notices that the room continued
    /// under another host.
    static let grace = 15.0
    private static let maximumPartCount = 16

    /// Limits the reports: anyone can announce any number of parts, each with another key.
    private var limiter = RateLimiter(4, inSeconds: 300)
    private var parts: [(part: Part, since: HostTime, isReported: Bool)] = []

    /// Returns true if the user is to be told of a part: once for each part, and at most four times in five minutes.
    /// - Parameter roster: the local roster. A part of an older epoch whose host is in this roster may come back by itself, and
    ///   is reported only if it is still announced after ``grace`` seconds.
    mutating func isNewPart(_ part: Part, roster: Roster, at now: HostTime) -> Bool {
        guard let index = parts.firstIndex(where: { $0.part == part }) else {
            let mayComeBack = part.epoch < roster.epoch && roster.member(with: part.host) != nil
            guard mayComeBack || limiter.acquire(at: now) else { return false }
            parts = parts.suffix(Self.maximumPartCount - 1) + [(part, now, !mayComeBack)]
            return !mayComeBack
        }
        guard !parts[index].isReported, now.seconds(since: parts[index].since) >= Self.grace, limiter.acquire(at: now)
        else { return false }
        parts[index].isReported = true
        return true
    }
}
