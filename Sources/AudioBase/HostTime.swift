// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime

/// An instant on the machine's monotonic clock (`CLOCK_MONOTONIC`), in whole nanoseconds.
///
/// Every device maps its frames to this clock, so instants of different devices of one machine compare.
/// All operations may run on any thread, the render thread among them.
@frozen
public struct HostTime: Hashable, Comparable, Sendable, BitwiseCopyable {
    /// Nanoseconds since the clock's own origin (usually the machine's start).
    public var nanoseconds: Int64

    /// The instant this many nanoseconds after the clock's origin.
    @inlinable @_noLocks
    public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// The present instant. Render-safe: read without a system call.
    @_noLocks
    public static func now() -> HostTime { HostTime(nanoseconds: earshot_monotonic_ns()) }

    /// Seconds from `other` to this instant; negative when `other` is later.
    @inlinable @_noLocks
    public func seconds(since other: HostTime) -> Double { Double(nanoseconds &- other.nanoseconds) * 1e-9 }

    /// This instant moved by `seconds`, rounded to a nanosecond.
    @_noLocks
    public func advanced(bySeconds seconds: Double) -> HostTime {
        HostTime(nanoseconds: nanoseconds &+ earshot_round(seconds * 1e9))
    }

    /// Returns true if `a` is earlier than `b`.
    @inlinable @_noLocks
    public static func < (a: HostTime, b: HostTime) -> Bool { a.nanoseconds < b.nanoseconds }
}
