// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime
import EarshotAudioBase

extension UnitType {
    /// Keeps the sound below a ceiling, also between samples.
    public static let limiter = UnitType(LimiterKernel.self)
}

/// A true-peak limiter with look-ahead, all channels together.
///
/// The peak between samples is measured at eight times the rate (``TruePeakFilter``). The gain that it needs is held for some 12
/// ms, so that the waves of a low tone do not modulate it, recovers exponentially, and is smoothed by a Hann window of half a
/// millisecond (at least 24 frames) that reaches the needed gain exactly when the peak is output. The target is 0.1 dB below the
/// ceiling, for what eight points a sample, a finite filter and the moving gain miss. Below the ceiling it is a delay.
struct LimiterKernel: UnitKernel, ~Copyable {
    let latency: Int
    let memory: Int
    private let sampleRate: Double
    private let channelCount: Int
    private let windowLength: Int  // a multiple of 4
    private let window: UnsafeMutablePointer<Float>
    private let gains: UnsafeMutablePointer<Float>  // the last ones, twice, so that reads never wrap
    private let delayed: UnsafeMutablePointer<Float>
    private let delayMask: Int
    private let smooth: UnsafeMutablePointer<Float>  // the gains of a chunk
    private var peaks: TruePeakFilter
    private var hold: PeakHold
    private var drive = LinearRamp(1)
    private var ceiling = LinearRamp(1)
    private var release = 0.0
    private var gain = 1.0
    private var atRest = 0  // frames since the gain came to 1, as far as the window
    private var gainsAt = 0
    private var at = 0

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
        let held = latency + TruePeakFilter.chunk
        let size = 1 << (Int.bitWidth - held.leadingZeroBitCount)  // greater than what is held
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
        let shortest = Float(240 / sampleRate)  // a faster gain would make peaks of its own
        release = smoothing(
            seconds: values[Parameter.release.rawValue] < shortest ? shortest : values[Parameter.release.rawValue],
            sampleRate: sampleRate)
        drive.move(to: decibelsToGain(values[Parameter.gain.rawValue]), over: frameCount)
    }

    @_noLocks
    mutating func process(_ block: UnitBlock) {
        var done = 0
        while done < block.frameCount {
            let left = block.frameCount &- done
            let count = left < TruePeakFilter.chunk ? left : TruePeakFilter.chunk
            enqueueInput(block.input, block.offset &+ done, count)
            peaks.process(frameCount: count, above: ceiling.lowest)
            for i in 0..<count {
                let top = ceiling.next()
                let peak = peaks.peaks[i]
                smooth[i] = nextGain(hold.next(peak < top ? 0 : peak), top)
            }
            give(block.output, block.offset &+ done, count)
            at = at &+ count
            done = done &+ count
        }
    }

    /// Writes frames to the delay line and the peak search.
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
                past[(at &+ i) & delayMask] = x
            }
        }
    }

    @_noLocks @inline(__always)
    private func give(_ output: Channels, _ offset: Int, _ count: Int) {
        for c in 0..<channelCount {
            let to = output[c] + offset
            let past = delayed + c &* (delayMask &+ 1)
            for i in 0..<count { to[i] = past[(at &+ i &- latency) & delayMask] * smooth[i] }
        }
    }

    /// Returns the gain of the next output frame, with `held` as the greatest peak of the look-ahead.
    @_noLocks @inline(__always)
    private mutating func nextGain(_ held: Float, _ top: Float) -> Float {
        let wanted = held > top ? Double(top / held) : 1
        let missing = wanted - gain
        gain = missing < 1e-5 ? wanted : wanted - missing * release
        if gain < 1 {
            atRest = 0
        } else if atRest < windowLength {
            atRest &+= 1
        }
        let now = Float(gain)
        gains[gainsAt] = now
        gains[gainsAt &+ windowLength] = now
        gainsAt = gainsAt &+ 1 == windowLength ? 0 : gainsAt &+ 1
        if atRest >= windowLength { return 1 }
        var sum = SIMD4<Float>(repeating: 0)
        let recent = gains + gainsAt
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
        gainsAt = 0
        at = 0
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
