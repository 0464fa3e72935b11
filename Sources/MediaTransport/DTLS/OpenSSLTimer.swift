// SPDX-License-Identifier: Apache-2.0

import CEarshotOpenSSL
import Glibc

/// Replaces the wall clock of OpenSSL's retransmission timer.
///
/// Each call of OpenSSL compares its timer with the wall clock, and retransmits the flight if the timer has expired. OpenSSL
/// passes each timer that it starts or stops to its BIO. Up to version 3.1 that is the timer itself: this type sets a started
/// timer to a time that never comes, and in ``expire()`` to a past one. Later versions pass a copy, which ``examine(_:)`` detects
/// at the first start. Then the wall clock stays in charge, with the intervals of ``HandshakeTimer``.
@safe struct OpenSSLTimer {
    private static let never = timeval(tv_sec: 1 << 40, tv_usec: 0)
    private static let past = timeval(tv_sec: 1, tv_usec: 0)

    private var shownTimer: UnsafeMutablePointer<timeval>?
    /// True if ``shownTimer`` points to OpenSSL's own timer, false if to a copy; nil until that is known.
    private var isOwnTimer: Bool?
    /// True if the last flight awaits an answer.
    private(set) var isRunning = false
    /// The number of flights sent that need an answer.
    private(set) var flights = 0

    /// Notes the timer that OpenSSL passed to its BIO, and sets a started one to a time that never comes.
    mutating func shown(_ timer: UnsafeMutablePointer<timeval>) {
        let starts = unsafe timer.pointee.tv_sec != 0 || timer.pointee.tv_usec != 0
        if starts, !isRunning { flights += 1 }
        isRunning = starts
        unsafe shownTimer = unsafe timer
        if starts { unsafe timer.pointee = Self.never }
    }

    /// Detects, once, whether OpenSSL passes its own timer or a copy.
    mutating func examine(_ ssl: OpaquePointer) {
        guard isOwnTimer == nil, isRunning else { return }
        var remaining = timeval()
        isOwnTimer =
            unsafe SSL_ctrl(ssl, DTLS_CTRL_GET_TIMEOUT, 0, &remaining) == 1 && remaining.tv_sec > Self.never.tv_sec / 2
    }

    /// Makes the next call of `DTLSv1_handle_timeout` retransmit, if OpenSSL passes its own timer.
    func expire() {
        if isOwnTimer == true, isRunning { unsafe shownTimer?.pointee = Self.past }
    }

    /// Returns the next interval of OpenSSL's timer in microseconds; it counts only while the wall clock drives the timer.
    /// - Parameter before: the previous interval in microseconds; 0 if there was none.
    static func interval(after before: UInt32) -> UInt32 { before == 0 ? 50_000 : min(2 * before, 1_000_000) }
}
