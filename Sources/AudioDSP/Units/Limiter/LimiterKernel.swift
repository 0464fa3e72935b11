// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime
import EarshotAudioBase

extension UnitType {
    /// Keeps the sound below a ceiling, also between samples.
    public static let limiter = UnitType(LimiterKernel.self)
}

/// A true-peak limiter with look-ahead and one gain for all channels.
///
/// Peaks between samples are measured at eight times the rate (``TruePeakFilter``). The gain that a peak needs is held for 10 to
/// 13 ms, so that the waves of a low tone do not modulate it, and then recovers exponentially. It is smoothed by a Hann window of
/// half a millisecond (at least 24 frames), which reaches the needed gain exactly when the peak is output. The target is 0.1 dB
/// below the ceiling, because eight points a sample, a finite filter and a moving gain miss a little. Sound that stays below the
/// ceiling after the gain at the input is only delayed.
struct LimiterKernel: UnitKernel, ~Copyable {
    let latency: Int
    let memory: Int
    private let sampleRate: Double
    private let channelCount: Int
    private let windowLength: Int  // frames; a multiple of 4
    private let window: UnsafeMutablePointer<Float>
    private let gains: UnsafeMutablePointer<Float>  // a ring of the last gains, stored twice so that reads never wrap
    private let delayed: UnsafeMutablePointer<Float>  // a ring of past frames for each channel
    private let delayMask: Int
    private let smooth: UnsafeMutablePointer<Float>  // the smoothed gains of a piece
    private var peaks: TruePeakFilter
    private var hold: PeakHold
    private var drive = LinearRamp(1)  // the gain at the input
    private var ceiling = LinearRamp(1)
    private var release = 0.0  // the share of a difference that is left after a frame
    private var gain = 1.0
    private var atRest = 0  // frames since the gain returned to 1, at most `windowLength`
    private var gainsIndex = 0  // the next index in `gains`
    private var writePosition = 0  // the number of frames written to `delayed`

    init(sampleRate: Double, channelCount: Int) {
        self.sampleRate = sampleRate
        self.channelCount = channelCount
        let length = max(24, Int(sampleRate * 0.0005 / 4 + 0.5) * 4)
        windowLength = length
        latency = TruePeakFilter.delay + length - 1
        peaks = TruePeakFilter(channelCount: channelCount, isGuarded: true)
        hold = PeakHold(seconds: 0.01, sampleRate: sampleRate)
        memory = latency + hold.frames + Int(12 * sampleRate)  // 12 time constants of the longest release
        window = .allocate(capacity: length)
        var sum = 0.0
        for k in 0..<length { sum += 1 - earshot_cos(2 * .pi * Double(k + 1) / Double(length + 1)) }
        for k in 0..<length {
            (window + k).initialize(to: Float((1 - earshot_cos(2 * .pi * Double(k + 1) / Double(length + 1))) / sum))
        }
        gains = .allocate(capacity: 2 * length)
        gains.initialize(repeating: 1, count: 2 * length)
        smooth = .allocate(capacity: TruePeakFilter.chunk)
        smooth.initialize(repeating: 1, count: TruePeakFilter.chunk)
        let storedFrames = latency + TruePeakFilter.chunk
        let size = 1 << (Int.bitWidth - storedFrames.leadingZeroBitCount)  // greater than `storedFrames`
        delayMask = size - 1
        delayed = .allocate(capacity: channelCount * size)
        delayed.initialize(repeating: 0, count: channelCount * size)
        atRest = length
    }

    deinit {
        window.deallocate()
        gains.deallocate()
        delayed.deallocate()
        smooth.deallocate()
    }

    /// The parameters in the order of the unit's description.
    private enum Parameter: Int { case ceiling, release, gain }

    @_noLocks
    mutating func set(_ values: UnsafePointer<Float>, over frameCount: Int) {
        let top = decibelsToGain(values[Parameter.ceiling.rawValue] - 0.1)
        if top < ceiling.value { peaks.wake() }
        ceiling.move(to: top, over: frameCount)
        let shortest = Float(240 / sampleRate)  // seconds; a faster gain would create new peaks
        release = smoothing(
            seconds: values[Parameter.release.rawValue] < shortest ? shortest : values[Parameter.release.rawValue],
            sampleRate: sampleRate)
        drive.move(to: decibelsToGain(values[Parameter.gain.rawValue]), over: frameCount)
    }

    @_noLocks
    mutating func process(_ block: UnitBlock) {
        var done = 0
        while done < block.frameCount {
            let remaining = block.frameCount &- done
            let count = remaining < TruePeakFilter.chunk ? remaining : TruePeakFilter.chunk
            enqueueInput(block.input, block.offset &+ done, count)
            peaks.process(frameCount: count, above: ceiling.lowest)
            for i in 0..<count {
                let top = ceiling.next()
                let peak = peaks.peaks[i]
                smooth[i] = nextGain(hold.next(peak < top ? 0 : peak), top)
            }
            writeOutput(block.output, block.offset &+ done, count)
            writePosition = writePosition &+ count
            done = done &+ count
        }
    }

    /// Amplifies input frames, and writes them to the delay line and to the peak filter.
    @_noLocks @inline(__always)
    private mutating func enqueueInput(_ input: Channels, _ offset: Int, _ count: Int) {
        let start = drive
        for c in 0..<channelCount {
            drive = start
            let from = input[c] + offset
            let to = peaks.input(c)
            let past = delayed + c &* (delayMask &+ 1)
            for i in 0..<count {
                let x = from[i] * drive.next()
                to[i] = x
                past[(writePosition &+ i) & delayMask] = x
            }
        }
    }

    @_noLocks @inline(__always)
    private func writeOutput(_ output: Channels, _ offset: Int, _ count: Int) {
        for c in 0..<channelCount {
            let to = output[c] + offset
            let past = delayed + c &* (delayMask &+ 1)
            for i in 0..<count { to[i] = past[(writePosition &+ i &- latency) & delayMask] * smooth[i] }
        }
    }

    /// Returns the smoothed gain of the next output frame; `heldPeak` is the greatest peak of the look-ahead, 0 below the
    /// ceiling.
    @_noLocks @inline(__always)
    private mutating func nextGain(_ heldPeak: Float, _ ceilingLevel: Float) -> Float {
        let neededGain = heldPeak > ceilingLevel ? Double(ceilingLevel / heldPeak) : 1
        let missing = neededGain - gain
        gain = missing < 1e-5 ? neededGain : neededGain - missing * release
        if gain < 1 {
            atRest = 0
        } else if atRest < windowLength {
            atRest &+= 1
        }
        let now = Float(gain)
        gains[gainsIndex] = now
        gains[gainsIndex &+ windowLength] = now
        gainsIndex = gainsIndex &+ 1 == windowLength ? 0 : gainsIndex &+ 1
        if atRest >= windowLength { return 1 }
        var sum = SIMD4<Float>(repeating: 0)
        let recent = gains + gainsIndex
        var k = 0
        while k < windowLength {
            sum += load4(window + k) * load4(recent + k)
            k &+= 4
        }
        return (sum[0] + sum[1]) + (sum[2] + sum[3])
    }

    @_noLocks
    mutating func reset() {
        drive.finish()
        ceiling.finish()
        peaks.reset()
        hold.reset()
        clearSamples(delayed, channelCount &* (delayMask &+ 1))
        for k in 0..<(2 &* windowLength) { gains[k] = 1 }
        gain = 1
        atRest = windowLength
        gainsIndex = 0
        writePosition = 0
    }

    static var functions: UnitFunctions {
        UnitFunctions(
            set: { $0.assumingMemoryBound(to: Self.self).pointee.set($1, over: $2) },
            process: { state, block in
                state.assumingMemoryBound(to: Self.self).pointee.process(
                    block.assumingMemoryBound(to: UnitBlock.self).pointee)
            },
            reset: { $0.assumingMemoryBound(to: Self.self).pointee.reset() })
    }
}
