// SPDX-License-Identifier: Apache-2.0

import CEarshotOpenSSL
import Glibc

/// OpenSSL's timer of retransmissions, taken from the wall's clock.
///
/// Each call of OpenSSL looks at the clock, and sends the flight again if the timer has run out. It shows its BIO each timer that
/// it starts or stops. Up to 3.1 what it shows is the timer itself: there a started one is set to a time that never comes, and to a
/// past one when we say. Later versions show a copy, as is found out when the first has started; there the wall's clock stays in
/// charge, with the intervals of ``HandshakeTimer``.
@safe struct OpenSSLTimer {
    private static let never = timeval(tv_sec: 1 << 40, tv_usec: 0)
    private static let past = timeval(tv_sec: 1, tv_usec: 0)

    private var place: UnsafeMutablePointer<timeval>?
    /// True if `place` is the timer; nil until that is known.
    private var isTimer: Bool?
    /// True if something that was sent is to be answered.
    private(set) var isRunning = false
    /// Counts flights: what is sent before the other side is to answer.
    private(set) var flights = 0

    /// Notes the timer that the BIO was shown; it may be written to at this moment.
    mutating func shown(_ timer: UnsafeMutablePointer<timeval>) {
        let starts = unsafe timer.pointee.tv_sec != 0 || timer.pointee.tv_usec != 0
        if starts, !isRunning { flights += 1 }
        isRunning = starts
        unsafe place = unsafe timer
        if starts { unsafe timer.pointee = Self.never }
    }

    /// Finds out, once, whether what was shown is the timer.
    mutating func examine(_ ssl: OpaquePointer) {
        guard isTimer == nil, isRunning else { return }
        var left = timeval()
        isTimer = unsafe SSL_ctrl(ssl, DTLS_CTRL_GET_TIMEOUT, 0, &left) == 1 && left.tv_sec > Self.never.tv_sec / 2
    }

    /// Has the next call of `DTLSv1_handle_timeout` find that time is up.
    func expire() {
        if isTimer == true, isRunning { unsafe place?.pointee = Self.past }
    }

    /// The timer's intervals in microseconds while the wall clock drives it; 0 before the first.
    static func interval(after before: UInt32) -> UInt32 { before == 0 ? 50_000 : min(2 * before, 1_000_000) }
}
