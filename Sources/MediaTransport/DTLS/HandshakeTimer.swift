// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// The times at which a handshake retransmits its last flight and gives up (RFC 6347 §4.2.4, with a shorter first interval, as
/// the peer is near).
struct HandshakeTimer {
    private static let first: Int64 = 50_000_000  // nanoseconds, as all here
    private static let longest: Int64 = 1_000_000_000
    private static let limit: Int64 = 10_000_000_000
    /// The nanoseconds in which the handshake may continue in spite of an unencrypted alert.
    private static let alertTimeout: Int64 = 2_000_000_000
    /// OpenSSL fails at the thirteenth.
    private static let maximumResends = 12

    private let begin: HostTime
    private var interval = first
    private var resends = 0
    private var resendTime: HostTime?
    private var doubtTime: HostTime?
    /// The unencrypted alert since the handshake's last progress.
    private(set) var alert: DTLSAlert?

    init(at now: HostTime) { begin = now }

    /// The time at which the handshake fails.
    private var end: HostTime {
        let end = begin.after(Self.limit)
        return doubtTime.map { min($0, end) } ?? end
    }

    /// The time of the next action.
    var deadline: HostTime { resendTime.map { min($0, end) } ?? end }

    func isOver(at now: HostTime) -> Bool { now >= end }

    func isToResend(at now: HostTime) -> Bool { resendTime.map { now >= $0 } ?? false }

    /// Notes that a flight was sent that needs an answer.
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

    /// Notes that the flight was retransmitted.
    mutating func resent(at now: HostTime) {
        resends += 1
        interval = min(2 * interval, Self.longest)
        resendTime = resends < Self.maximumResends ? now.after(interval) : nil
    }

    /// Notes an unencrypted alert. If the peer sent it, nothing else will come.
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
