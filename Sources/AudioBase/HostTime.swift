// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime

/// A time on the machine's monotonic clock (`CLOCK_MONOTONIC`), in whole nanoseconds.
///
/// Every device maps its frames to this clock, so times of different devices of one machine can be compared. All operations are
/// for any thread, including the render thread.
@frozen
public struct HostTime: Hashable, Comparable, Sendable, BitwiseCopyable {
    /// The nanoseconds since the clock's origin (usually the machine's start).
    public var nanoseconds: Int64

    /// Creates a time from the nanoseconds since the clock's origin.
    @inlinable @_noLocks
    public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// Returns the current time, without a system call. Safe on the render thread.
    @_noLocks
    public static func now() -> HostTime { HostTime(nanoseconds: earshot_monotonic_ns()) }

    /// Returns the seconds from `other` to this time; negative if `other` is later.
    @inlinable @_noLocks
    public func seconds(since other: HostTime) -> Double { Double(nanoseconds &- other.nanoseconds) * 1e-9 }

    /// Returns this time plus `seconds`, rounded to a nanosecond.
    @_noLocks
    public func advanced(bySeconds seconds: Double) -> HostTime {
        HostTime(nanoseconds: nanoseconds &+ earshot_round(seconds * 1e9))
    }

    /// Returns true if `a` is earlier than `b`.
    @inlinable @_noLocks
    public static func < (a: HostTime, b: HostTime) -> Bool { a.nanoseconds < b.nanoseconds }
}
