// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// When a handshake sends its last flight again, and when it gives up (RFC 6347 §4.2.4, with a shorter first wait, since
/// the peer is near).
struct HandshakeTimer {
    private static let first: Int64 = 50_000_000  // nanoseconds, as all here
    private static let longest: Int64 = 1_000_000_000
    private static let limit: Int64 = 10_000_000_000
    /// Nanoseconds in which an alert in clear can be disproved.
    private static let alertTimeout: Int64 = 2_000_000_000
    /// OpenSSL fails at the thirteenth.
    private static let maximumResends = 12

    private let begin: HostTime
    private var interval = first
    private var resends = 0
    private var resendTime: HostTime?
    private var doubtTime: HostTime?
    /// The alert in clear since the handshake's last progress.
    private(set) var alert: DTLSAlert?

    init(at now: HostTime) { begin = now }

    /// When to give up.
    private var end: HostTime {
        let end = begin.after(Self.limit)
        return doubtTime.map { min($0, end) } ?? end
    }

    /// The next instant at which there is something to do.
    var deadline: HostTime { resendTime.map { min($0, end) } ?? end }

    func isOver(at now: HostTime) -> Bool { now >= end }

    func isToResend(at now: HostTime) -> Bool { resendTime.map { now >= $0 } ?? false }

    /// The handshake went on: one's own flight is out, and to be answered.
    mutating func sent(at now: HostTime) {
        interval = Self.first
        resends = 0
        resendTime = now.after(interval)
        (alert, doubtTime) = (nil, nil)
    }

    /// Ends the wait for the flight's answer.
    mutating func answered() {
        resendTime = nil
        (alert, doubtTime) = (nil, nil)
    }

    /// The flight is out again.
    mutating func resent(at now: HostTime) {
        resends += 1
        interval = min(2 * interval, Self.longest)
        resendTime = resends < Self.maximumResends ? now.after(interval) : nil
    }

    /// Somebody in the peer's place says that it is over. If it was the peer, nothing will come any more.
    mutating func doubt(_ alert: DTLSAlert, at now: HostTime) {
        self.alert = alert
        if doubtTime == nil { doubtTime = now.after(Self.alertTimeout) }
    }
}

extension HostTime {
    fileprivate func after(_ nanoseconds: Int64) -> HostTime {
        HostTime(nanoseconds: self.nanoseconds &+ nanoseconds)
    }
}
