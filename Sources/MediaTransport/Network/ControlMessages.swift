// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Glibc

/// The control messages of a received datagram, as `recvmsg` returns them.
struct ControlMessages {
    /// The addresses of the datagram; nil if the kernel did not report them.
    private(set) var info: PacketInfo?
    /// The kernel's wall-clock time at the datagram's arrival; nil if the kernel did not report it.
    private(set) var stamp: WallTime?

    /// The bytes of a `cmsghdr`, aligned.
    static let headerSize = MemoryLayout<Int>.size + 2 * MemoryLayout<CInt>.size
    static let alignment = MemoryLayout<Int>.size

    /// Reads messages up to the first malformed one. Unknown messages are skipped.
    init(reading control: RawSpan) {
        var offset = 0
        while offset + Self.headerSize <= control.byteCount {
            let length = Int(bitPattern: control.native(offset, as: UInt.self))
            guard length >= Self.headerSize, length <= control.byteCount - offset else { return }
            let level = CInt(bitPattern: control.native32(offset + Self.alignment))
            let type = CInt(bitPattern: control.native32(offset + Self.alignment + 4))
            let data = control.extracting(offset + Self.headerSize..<offset + length)
            if let found = PacketInfo(level: level, type: type, data) {
                info = info ?? found
            } else if level == SOL_SOCKET, type == SO_TIMESTAMPNS, data.byteCount >= 16 {
                stamp = WallTime(
                    seconds: data.native(0, as: Int64.self), nanoseconds: data.native(8, as: Int64.self))
            }
            offset += (length + Self.alignment - 1) & ~(Self.alignment - 1)
        }
    }
}

/// A time of the machine's wall clock, which may step.
package struct WallTime: Hashable, Sendable {
    /// Nanoseconds since 1970; wraps on overflow.
    let sinceEpoch: Int64

    package init(seconds: Int64, nanoseconds: Int64) {
        sinceEpoch = seconds &* 1_000_000_000 &+ nanoseconds
    }

    /// The present time.
    package static func now() -> WallTime {
        var time = timespec()
        _ = unsafe clock_gettime(CLOCK_REALTIME, &time)
        return WallTime(seconds: Int64(time.tv_sec), nanoseconds: Int64(time.tv_nsec))
    }

    /// Returns the host time of this wall time. Its age is clamped to 0 to 1 s, so that a step of the wall clock does no harm.
    /// - Parameters:
    ///   - wall: the present wall time, read before `now`: an interruption in between makes the result later, like a delayed
    ///     packet, and never earlier than the truth.
    ///   - now: the present host time.
    package func hostTime(wall: WallTime, now: HostTime) -> HostTime {
        let age = wall.sinceEpoch &- sinceEpoch
        return HostTime(nanoseconds: now.nanoseconds &- max(0, min(1_000_000_000, age)))
    }
}
