// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// Counts of a ``MediaPort`` thread's wake-ups and system calls since it started. `scripts/counts` compares them, for each
/// packet, with recorded ones.
package struct MediaPortWork: Hashable, Sendable {
    /// The time at which the counts were published.
    package var time = HostTime(nanoseconds: 0)
    /// Calls of `poll`: each is a wake-up.
    package var waits = 0
    /// Wake-ups by the client or by another thread; each is followed by a call of `read`.
    package var signals = 0
    /// Calls of `sendmsg`.
    package var sends = 0
    /// Calls of `recvmsg`, those that found nothing included.
    package var receives = 0

    /// The sum of all system calls: `poll`, `read`, `sendmsg` and `recvmsg`.
    package var systemCalls: Int { waits + signals + sends + receives }
}
