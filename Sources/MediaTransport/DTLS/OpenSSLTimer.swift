// SPDX-License-Identifier: Apache-2.0

import CEarshotOpenSSL
import Glibc

/// Replaces the wall clock of OpenSSL's retransmission timer.
///
/// Each call of OpenSSL compares the timer with the clock and retransmits the flight if it has expired. It passes each timer that
/// it starts or stops to its BIO. Up to version 3.1 it passes the timer itself: a started one is then set to a time that never
/// comes, and by ``expire()`` to a past one. Later versions pass a copy, which ``examine(_:)`` detects at the first start; there
/// the wall clock stays in charge, with the intervals of ``HandshakeTimer``.
@safe struct OpenSSLTimer {
    private static let never = timeval(tv_sec: 1 << 40, tv_usec: 0)
    private static let past = timeval(tv_sec: 1, tv_usec: 0)

    private var place: UnsafeMutablePointer<timeval>?
    /// True if `place` is the timer; nil until that is known.
    private var isTimer: Bool?
    /// True if the last flight awaits an answer.
    private(set) var isRunning = false
    /// The number of flights sent.
    private(set) var flights = 0

    /// Notes the timer that the BIO was passed; it may be written now.
    mutating func shown(_ timer: UnsafeMutablePointer<timeval>) {
        let starts = unsafe timer.pointee.tv_sec != 0 || timer.pointee.tv_usec != 0
        if starts, !isRunning { flights += 1 }
        isRunning = starts
        unsafe place = unsafe timer
        if starts { unsafe timer.pointee = Self.never }
    }

    /// Detects, once, whether `place` is OpenSSL's own timer or a copy.
    mutating func examine(_ ssl: OpaquePointer) {
        guard isTimer == nil, isRunning else { return }
        var left = timeval()
        isTimer = unsafe SSL_ctrl(ssl, DTLS_CTRL_GET_TIMEOUT, 0, &left) == 1 && left.tv_sec > Self.never.tv_sec / 2
    }

    /// Makes the next call of `DTLSv1_handle_timeout` retransmit.
    func expire() {
        if isTimer == true, isRunning { unsafe place?.pointee = Self.past }
    }

    /// Returns the timer's interval in microseconds while the wall clock drives it; 0 before the first.
    static func interval(after before: UInt32) -> UInt32 { before == 0 ? 50_000 : min(2 * before, 1_000_000) }
}
