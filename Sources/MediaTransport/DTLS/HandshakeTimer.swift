// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// The times at which a handshake retransmits its last flight and gives up (RFC 6347 §4.2.4, with a shorter first interval, as
/// the peer is near).
struct HandshakeTimer {
    private static let firstInterval: Int64 = 50_000_000  // nanoseconds, as the next two constants
    private static let longestInterval: Int64 = 1_000_000_000
    private static let timeLimit: Int64 = 10_000_000_000
    /// The nanoseconds for which the handshake waits for progress after an unencrypted alert.
    private static let alertTimeout: Int64 = 2_000_000_000
    /// The maximum retransmissions of one flight: OpenSSL fails at the thirteenth.
    private static let maximumResends = 12

    private let startTime: HostTime
    private var interval = firstInterval
    private var resends = 0
    private var resendTime: HostTime?
    private var alertDeadline: HostTime?
    /// The latest unencrypted alert since the handshake's last progress; nil if there was none.
    private(set) var alert: DTLSAlert?

    init(at now: HostTime) { startTime = now }

    /// The time at which a handshake that is still in progress fails.
    private var end: HostTime {
        let end = startTime.after(Self.timeLimit)
        return alertDeadline.map { min($0, end) } ?? end
    }

    /// The time of the next retransmission or of the failure, whichever comes first.
    var deadline: HostTime { resendTime.map { min($0, end) } ?? end }

    func isOver(at now: HostTime) -> Bool { now >= end }

    func isToResend(at now: HostTime) -> Bool { resendTime.map { now >= $0 } ?? false }

    /// Notes that a flight was sent that needs an answer.
    mutating func sent(at now: HostTime) {
        interval = Self.firstInterval
        resends = 0
        resendTime = now.after(interval)
        (alert, alertDeadline) = (nil, nil)
    }

    /// Ends the wait for the flight's answer.
    mutating func answered() {
        resendTime = nil
        (alert, alertDeadline) = (nil, nil)
    }

    /// Notes that the flight was retransmitted.
    mutating func resent(at now: HostTime) {
        resends += 1
        interval = min(2 * interval, Self.longestInterval)
        resendTime = resends < Self.maximumResends ? now.after(interval) : nil
    }

    /// Notes an unencrypted alert. If the peer and not an attacker sent the alert, nothing else will come.
    mutating func doubt(_ alert: DTLSAlert, at now: HostTime) {
        self.alert = alert
        if alertDeadline == nil { alertDeadline = now.after(Self.alertTimeout) }
    }
}

extension HostTime {
    fileprivate func after(_ nanoseconds: Int64) -> HostTime {
        HostTime(nanoseconds: self.nanoseconds &+ nanoseconds)
    }
}
