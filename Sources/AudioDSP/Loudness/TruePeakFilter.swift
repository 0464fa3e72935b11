// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// Measures peaks between samples, at eight times the rate, where they can matter.
///
/// Two windowed-sinc interpolators (Kaiser): one of 112 taps to twice the rate, steep enough for a converter's band up to 0.48 of
/// the rate, then a short one to eight times the rate. Each frame gives the peak of the interval of one frame that lies ``delay``
/// frames back. Nothing is calculated while no recent sample reaches the threshold divided by the filters' maximum gain, as the
/// result would be below the threshold.
///
/// In the last 2 % below half the rate such a short filter cannot distinguish a signal from its image, and misses a few tenths of
/// a decibel of white noise. A guarded filter, for a limiter, adds a margin to the peaks: the maximum over 64 frames of the
/// magnitude of a narrow band around half the rate (111 taps), which is 0 for sound without such frequencies.
///
/// The caller passes pieces of at most ``chunk`` frames; the division into pieces changes no result above the threshold.
struct TruePeakFilter: ~Copyable {
    /// The delay in frames: a frame's result is the peak between the samples 58 and 57 frames before it.
    static var delay: Int { @_noLocks get { 58 } }
    /// The maximum frames of a call.
    static var chunk: Int { @_noLocks get { 64 } }
    /// The peak of each frame over all channels, or 0 if no channel calculated one.
    let peaks: UnsafeMutablePointer<Float>

    private static var past: Int { @_noLocks get { 180 } }  // samples kept before a piece: 112 taps, for 64 frames back
    private static var doubledAt: Int { @_noLocks get { 256 } }  // after 180 + 64 samples, and room to read beyond
    private static var brinkAt: Int { @_noLocks get { 400 } }  // after 8 + 128 doubled samples, and room
    private static var stride: Int { @_noLocks get { 536 } }  // floats for a channel; the last are 64 + 64 magnitudes
    private static var idleAfter: Int { @_noLocks get { 184 } }  // frames; more than a peak depends on
    // Each tap four times: 56 of the first interpolator, 3 phases of 8 of the second, 56 of the band around half the rate.
    private let taps: UnsafeMutablePointer<Float>
    private let brink: UnsafeMutablePointer<Float>  // magnitudes of the band around half the rate, then their maxima
    private let isGuarded: Bool
    private let memory: UnsafeMutablePointer<Float>
    private let quiet: UnsafeMutablePointer<Int>  // for each channel, the frames since a sample mattered
    private let channelCount: Int
    private let gain: Float  // the filters' maximum gain

    /// - Parameters:
    ///   - channelCount: 1 to 32.
    ///   - isGuarded: true to raise peaks by the band around half the rate.
    init(channelCount: Int, isGuarded: Bool) {
        self.channelCount = channelCount
        self.isGuarded = isGuarded
        taps = .allocate(capacity: 4 * 136)
        gain = Self.makeTaps(taps) + (isGuarded ? Self.brinkWeight : 0)
        brink = .allocate(capacity: 140)
        brink.initialize(repeating: 0, count: 140)
        memory = .allocate(capacity: channelCount * Self.stride)
        memory.initialize(repeating: 0, count: channelCount * Self.stride)
        quiet = .allocate(capacity: channelCount)
        quiet.initialize(repeating: Self.idleAfter, count: channelCount)
        peaks = .allocate(capacity: Self.chunk)
        peaks.initialize(repeating: 0, count: Self.chunk)
    }

    deinit {
        taps.deallocate()
        brink.deallocate()
        memory.deallocate()
        quiet.deallocate()
        peaks.deallocate()
    }

    /// Returns the input of a channel, to be filled before ``process(frameCount:above:)``.
    @_noLocks
    func input(_ channel: Int) -> UnsafeMutablePointer<Float> { memory + (channel &* Self.stride &+ Self.past) }

    /// Fills ``peaks`` for the frames in ``input(_:)``.
    /// - Parameters:
    ///   - frameCount: 1 to ``chunk``.
    ///   - threshold: the magnitude from which on peaks are exact; lower peaks may be too low, or 0.
    @_noLocks
    func process(frameCount: Int, above threshold: Float) {
        clearSamples(peaks, frameCount)
        for c in 0..<channelCount {
            let history = memory + c &* Self.stride
            var top: Float = 0
            for i in 0..<frameCount {
                let x = history[Self.past &+ i]
                let magnitude = x < 0 ? -x : x
                top = magnitude > top ? magnitude : top
            }
            let matters = top * gain >= threshold
            let wasIdle = quiet[c] >= Self.idleAfter
            if matters || !wasIdle {
                if wasIdle { catchUp(history) }
                quiet[c] = matters ? 0 : quiet[c] &+ frameCount
                double(history, from: 0, to: frameCount)
                if isGuarded {
                    listen(history, from: 0, to: frameCount)
                    holdBrink(history + Self.brinkAt)
                }
                findPeaks(history + Self.doubledAt, frameCount)
                if isGuarded { moveSamples(history + Self.brinkAt, history + (Self.brinkAt &+ frameCount), 64) }
                moveSamples(history + Self.doubledAt, history + (Self.doubledAt &+ 2 &* frameCount), 8)
            }
            moveSamples(history, history + frameCount, Self.past)
        }
    }

    /// Prepares for a lower threshold than before: all channels are calculated again, as after a loud sample.
    @_noLocks
    func wake() {
        for c in 0..<channelCount {
            if quiet[c] >= Self.idleAfter { catchUp(memory + c &* Self.stride) }
            quiet[c] = 0
        }
    }

    @_noLocks
    func reset() {
        clearSamples(memory, channelCount &* Self.stride)
        for c in 0..<channelCount { quiet[c] = Self.idleAfter }
    }

    /// Calculates the results that were skipped while the channel was idle, but are needed for the next peaks.
    @_noLocks
    private func catchUp(_ history: UnsafeMutablePointer<Float>) {
        double(history, from: -4, to: 0)
        if isGuarded { listen(history, from: -64, to: 0) }
    }

    /// Calculates for each frame the magnitude of the band around half the rate, as of 56 frames before that frame.
    @_noLocks
    private func listen(_ history: UnsafeMutablePointer<Float>, from first: Int, to end: Int) {
        let band = taps + 4 &* 80
        var i = first
        while i &+ 16 <= end {  // sixteen frames at a time: a single sum would wait for its last addition
            let centre = history + (Self.past &+ i &- 56)
            var (a, b) = (load4(band) * load4(centre), load4(band) * load4(centre + 4))
            var (c, d) = (load4(band) * load4(centre + 8), load4(band) * load4(centre + 12))
            var k = 1
            while k < 56 {
                let tap = load4(band + 4 &* k)
                let (left, right) = (centre - k, centre + k)
                a += tap * (load4(left) + load4(right))
                b += tap * (load4(left + 4) + load4(right + 4))
                c += tap * (load4(left + 8) + load4(right + 8))
                d += tap * (load4(left + 12) + load4(right + 12))
                k &+= 1
            }
            let to = history + (Self.brinkAt &+ 64 &+ i)
            store4(magnitude(a), to)
            store4(magnitude(b), to + 4)
            store4(magnitude(c), to + 8)
            store4(magnitude(d), to + 12)
            i &+= 16
        }
        while i < end {
            let centre = history + (Self.past &+ i &- 56)
            var sum = load4(band) * load4(centre)
            var k = 1
            while k < 56 {
                sum += load4(band + 4 &* k) * (load4(centre - k) + load4(centre + k))
                k &+= 1
            }
            store4(magnitude(sum), history + (Self.brinkAt &+ 64 &+ i))
            i &+= 4
        }
    }

    /// Writes the maximum of each 64 successive magnitudes to `brink`, in six steps that double the span.
    @_noLocks
    private func holdBrink(_ magnitudes: UnsafeMutablePointer<Float>) {
        copySamples(brink + 4, magnitudes, 128)  // after four elements of room
        var span = 1
        while span < 64 {
            var i = 128
            while i >= 4, i >= span {
                store4(greater(load4(brink + i), load4(brink + (i &- span))), brink + i)
                i &-= 4
            }
            span &*= 2
        }
    }

    /// Writes for each frame the sample 56 frames before it and the interpolated value half a frame after that sample. It works
    /// on four frames at a time: excess values are overwritten before they are read.
    @_noLocks
    private func double(_ history: UnsafeMutablePointer<Float>, from first: Int, to end: Int) {
        var i = first
        while i &+ 16 <= end {
            let newest = history + (Self.past &+ i)
            var (a, b) = (SIMD4<Float>(repeating: 0), SIMD4<Float>(repeating: 0))
            var (c, d) = (a, b)
            var k = 0
            while k < 56 {
                let tap = load4(taps + 4 &* k)
                let (young, old) = (newest - k, newest - (111 &- k))
                a += tap * (load4(young) + load4(old))
                b += tap * (load4(young + 4) + load4(old + 4))
                c += tap * (load4(young + 8) + load4(old + 8))
                d += tap * (load4(young + 12) + load4(old + 12))
                k &+= 1
            }
            interleave(newest - 56, a, history, i)
            interleave(newest - 52, b, history, i &+ 4)
            interleave(newest - 48, c, history, i &+ 8)
            interleave(newest - 44, d, history, i &+ 12)
            i &+= 16
        }
        while i < end {
            let newest = history + (Self.past &+ i)
            var sum = SIMD4<Float>(repeating: 0)
            var k = 0
            while k < 56 {
                sum += load4(taps + 4 &* k) * (load4(newest - k) + load4(newest - (111 &- k)))
                k &+= 1
            }
            interleave(newest - 56, sum, history, i)
            i &+= 4
        }
    }

    /// Writes four samples and the four interpolated values between them to the doubled samples, from frame `i` on.
    @_noLocks @inline(__always)
    private func interleave(
        _ even: UnsafePointer<Float>, _ odd: SIMD4<Float>, _ history: UnsafeMutablePointer<Float>, _ i: Int
    ) {
        let doubled = history + (Self.doubledAt &+ 8 &+ 2 &* i)
        for j in 0..<4 {
            doubled[2 &* j] = even[j]
            doubled[2 &* j &+ 1] = odd[j]
        }
    }

    /// Raises ``peaks`` to the greatest magnitude at and between the doubled samples, two frames at a time.
    @_noLocks
    private func findPeaks(_ doubled: UnsafeMutablePointer<Float>, _ frameCount: Int) {
        var i = 0
        while i < frameCount {
            let from = doubled + (2 &* i &+ 1)
            var a = SIMD4<Float>(repeating: 0)
            var b = SIMD4<Float>(repeating: 0)
            var c = SIMD4<Float>(repeating: 0)
            var k = 0
            while k < 8 {
                let x = load4(from + k)
                let row = taps + (4 &* 56 &+ 12 &* k)
                a += x * load4(row)
                b += x * load4(row + 4)
                c += x * load4(row + 8)
                k &+= 1
            }
            let top = greater(greater(magnitude(load4(from + 3)), magnitude(a)), greater(magnitude(b), magnitude(c)))
            let first = (top[0] > top[1] ? top[0] : top[1]) + brink[68 &+ i]
            let second = (top[2] > top[3] ? top[2] : top[3]) + brink[69 &+ i]
            if first > peaks[i] { peaks[i] = first }
            if i &+ 1 < frameCount, second > peaks[i &+ 1] { peaks[i &+ 1] = second }
            i &+= 2
        }
    }
}

@_noLocks @inline(__always)
private func magnitude(_ x: SIMD4<Float>) -> SIMD4<Float> { x.replacing(with: -x, where: x .< 0) }

@_noLocks @inline(__always)
private func greater(_ a: SIMD4<Float>, _ b: SIMD4<Float>) -> SIMD4<Float> { a.replacing(with: b, where: b .> a) }
