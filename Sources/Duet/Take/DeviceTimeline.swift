// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// Gives the blocks of one direction of a device their times at its converter.
///
/// Times are counted in ticks: with one device for both directions 2⁻²⁰ of a frame of its counter, so that neither its rate nor the
/// noise of host times matters; with two devices nanoseconds of host time. A block ends where the next one begins, so it is
/// returned when the next one is known.
struct DeviceTimeline<Content: Sendable>: Sendable {
    struct Timed {
        var block: DeviceBlock
        var content: Content
        /// The time of the first frame, and of the frame after the last one.
        var start: Int64
        var end: Int64
        /// True if frames of the device are missing before the block.
        var isAfterGap: Bool

        /// Returns the time of a frame of the block.
        func time(at offset: Int) -> Int64 {
            start + Int64(Int128(end - start) * Int128(offset) / Int128(block.frameCount))
        }

        /// Returns the first frame at or after a time.
        func offset(at time: Int64) -> Int {
            let length = Int128(max(1, end - start))
            let distance = (Int128(time) - Int128(start)) * Int128(block.frameCount)
            return Int(clamping: distance > 0 ? (distance + length - 1) / length : 0)
        }
    }

    private let clock: DeviceClock
    private let sampleRate: Double
    /// 1 if sound leaves the converter after the cycle's start, −1 if it entered before.
    private let direction: Double
    private var pending: (block: DeviceBlock, content: Content, isAfterGap: Bool)?
    /// The ticks per frame of the last block, for the last one of all.
    private var tickLength: Double

    init(_ clock: DeviceClock, sampleRate: Double, isPlaying: Bool) {
        (self.clock, self.sampleRate) = (clock, sampleRate)
        direction = isPlaying ? 1 : -1
        tickLength = clock == .shared ? Double(1 << 20) : 1e9 / sampleRate
    }

    /// The block that waits for the next one.
    var pendingBlock: DeviceBlock? { pending?.block }

    /// Changes the content of the block that waits.
    mutating func changePending(_ change: (inout Content) -> Void) {
        if var new = pending {
            change(&new.content)
            pending = new
        }
    }

    /// Adds a block. Returns the previous one.
    mutating func add(_ block: DeviceBlock, _ content: Content) -> Timed? {
        guard block.isValid else { return nil }
        let previous = pending.map { timed($0, next: block) }
        let isAfterGap = pending.map { $0.block.sampleTime + Int64($0.block.frameCount) != block.sampleTime } ?? false
        pending = (block, content, isAfterGap)
        return previous
    }

    /// Returns the last block, whose end is estimated.
    mutating func close() -> Timed? {
        defer { pending = nil }
        return pending.map { timed($0, next: nil) }
    }

    private mutating func timed(
        _ pending: (block: DeviceBlock, content: Content, isAfterGap: Bool), next: DeviceBlock?
    ) -> Timed {
        let block = pending.block
        let start = time(of: block)
        if clock == .separate, let next, next.hasLatency(of: block) {
            let frames = next.sampleTime - block.sampleTime
            let length = Double(time(of: next) - start) / Double(frames)
            // A step of the clock or of the counter is no rate.
            let nominal = 1e9 / sampleRate
            if frames > 0, length > 0.9 * nominal, length < 1.1 * nominal { tickLength = length }
        }
        let end = start + Int64((tickLength * Double(block.frameCount)).rounded())
        return Timed(
            block: block, content: pending.content, start: start, end: end, isAfterGap: pending.isAfterGap)
    }

    private func time(of block: DeviceBlock) -> Int64 {
        switch clock {
        case .shared: block.sampleTime << 20 + Int64((direction * block.latency * sampleRate * 1_048_576).rounded())
        case .separate: block.converterTime(isPlaying: direction > 0).nanoseconds
        }
    }
}

/// The clock that relates captured frames to played frames.
package enum DeviceClock: Hashable, Sendable {
    /// One device captures and plays, with one frame counter.
    case shared
    /// Two devices, whose blocks have host times.
    case separate
}
