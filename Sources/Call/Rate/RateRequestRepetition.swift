// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport

/// Repeats the last rate request: a queue that is full in both directions may have dropped it, and the remote peer would send as
/// much again once it no longer suspects its link.
///
/// The repetitions come when the queue has drained, and while the sender takes them for the same finding.
struct RateRequestRepetition {
    private var request: RateRequest?
    private var sentAt = 0.0
    private var count = 0

    /// The seconds from a request to its repetitions: less than ``RatePolicy/settling``.
    static let delays = [0.4, 0.8]
    /// The minimum bits a second of a repeated request. On narrower links a few packets fill the queue for longer than the
    /// repetitions take, and no request was seen to be dropped.
    static let leastBitRate = 100_000.0

    /// Notes a new request, which is repeated instead of an earlier one.
    mutating func note(_ request: RateRequest, at now: Double) {
        self.request = request.bitRate >= Self.leastBitRate ? request : nil
        (sentAt, count) = (now, 0)
    }

    /// Returns the request if it must be repeated now.
    mutating func takeDue(at now: Double) -> RateRequest? {
        guard let request, now >= sentAt + Self.delays[count] else { return nil }
        count += 1
        if count == Self.delays.count { self.request = nil }
        return request
    }
}
