// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// Follows the clock of one direction of a device by all its callbacks, those before a frame and those after it.
///
/// A loop that follows a clock while it runs wobbles with the jitter of the last seconds, and lags behind a change of the rate
/// (``DelayLockedLoop``). Afterwards the clock is a line with few bends (``BentLine``) through the callbacks' means over short
/// times (``ClockWindow``).
struct ClockHistory: Sendable {
    /// The windows between two jumps of the clock, an hour at most.
    private struct Stretch {
        let firstFrame: Double
        let origin: HostTime
        var windows: [ClockWindow] = []
    }
    private static let stretchLength = 14_400

    private let sampleRate: Double
    private let isPlaying: Bool
    private var stretches: [Stretch] = []
    private var window = ClockWindow()
    private var windowFrame = 0.0
    private var last = (frame: -Double.infinity, deviation: 0.0)
    /// False if the counter ran back. Another device has another counter.
    private(set) var isMonotonic = true

    /// - Parameter sampleRate: the nominal rate in hertz.
    init(sampleRate: Double, isPlaying: Bool) { (self.sampleRate, self.isPlaying) = (sampleRate, isPlaying) }

    /// Adds the callback of a block. Further parts of the last block change nothing.
    mutating func add(_ block: DeviceBlock) {
        let frame = block.clockFrame
        guard frame > last.frame else {
            if frame < last.frame { isMonotonic = false }
            return
        }
        if let stretch = stretches.last {
            let elapsed = (frame - last.frame) / sampleRate
            // A loop that begins anew jumps. A clock is off by less than 1 %.
            let hasJumped = abs(deviation(of: block, in: stretch) - last.deviation) > 0.001 + 0.01 * elapsed
            if hasJumped || stretch.windows.count >= Self.stretchLength { begin(block) }
        } else {
            begin(block)
        }
        let index = stretches.count - 1
        last = (frame, deviation(of: block, in: stretches[index]))
        if window.isFull((frame - windowFrame) / sampleRate) {
            stretches[index].windows.append(window)
            (window, windowFrame) = (ClockWindow(), frame)
        }
        window.add(
            time: (frame - stretches[index].firstFrame) / sampleRate, deviation: last.deviation,
            lateness: block.lateness)
    }

    private mutating func begin(_ block: DeviceBlock) {
        stretches.append(Stretch(firstFrame: block.clockFrame, origin: block.converterTime(isPlaying: isPlaying)))
        (window, windowFrame) = (ClockWindow(), block.clockFrame)
    }

    /// Returns the seconds from the counter's time at its nominal rate to a block's due time at the converter.
    private func deviation(of block: DeviceBlock, in stretch: Stretch) -> Double {
        let due = block.converterTime(isPlaying: isPlaying).seconds(since: stretch.origin)
        return due - (block.clockFrame - stretch.firstFrame) / sampleRate
    }

    /// The clock by all callbacks so far; nil if they tell nothing better than the device's own loop, as those without jitter.
    var smoothed: SmoothedClock? {
        guard isMonotonic else { return nil }
        let lines = stretches.map { stretch in
            SmoothedClock.Line(
                firstFrame: stretch.firstFrame, origin: stretch.origin,
                deviation: BentLine(ClockWindow.points(stretch.windows)))
        }
        guard lines.contains(where: { $0.deviation != nil }) else { return nil }
        return SmoothedClock(lines: lines, sampleRate: sampleRate, isPlaying: isPlaying)
    }
}

/// The times at which a device's frames pass its converter.
struct SmoothedClock {
    /// The clock from a frame on.
    struct Line {
        let firstFrame: Double
        let origin: HostTime
        /// The seconds by which the clock deviates from its nominal rate; nil if unknown.
        let deviation: BentLine?
    }

    fileprivate let lines: [Line]
    fileprivate let sampleRate: Double
    fileprivate let isPlaying: Bool

    /// Returns a block with its host time by this clock; the same block if the clock is unknown there.
    func smoothed(_ block: DeviceBlock) -> DeviceBlock {
        guard let line = lines.last(where: { $0.firstFrame <= block.clockFrame }), let deviation = line.deviation
        else { return block }
        let seconds = (block.clockFrame - line.firstFrame) / sampleRate
        var block = block
        let latency = isPlaying ? block.latency : -block.latency
        block.hostTime = line.origin.advanced(bySeconds: seconds + deviation.value(at: seconds) - latency)
        return block
    }
}
