// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime

/// Reduces a signal to an integer fraction of its rate: a sinc low-pass with a Hann window, computed at the low rate only.
struct VoiceDecimator: ~Copyable {
    /// The input frames for each output sample.
    let factor: Int
    /// The delay of an output sample in input frames.
    let delay: Int
    private let tapCount: Int
    private let taps: UnsafeMutablePointer<Float>
    private let past: MirrorRing

    /// - Parameters:
    ///   - factor: 1 leaves the signal unchanged.
    ///   - lobes: the length of the filter on either side, in output samples.
    ///   - cutoff: the frequency of −6 dB, as a part of the output rate.
    init(factor: Int, lobes: Int, cutoff: Double) {
        self.factor = factor
        delay = factor == 1 ? 0 : lobes * factor
        tapCount = 2 * delay + 1
        taps = .allocate(capacity: tapCount)
        taps.initialize(repeating: 1, count: tapCount)
        past = MirrorRing(channelCount: 1, frameCount: tapCount)
        guard factor > 1 else { return }
        var sum: Float = 0
        for i in 0..<tapCount {
            let t = Double(i - delay)
            let x = 2 * Double.pi * cutoff / Double(factor) * t
            let hann = 0.5 + 0.5 * earshot_cos(Double.pi * t / Double(delay + 1))
            taps[i] = Float((t == 0 ? 1 : earshot_sin(x) / x) * hann)
            sum += taps[i]
        }
        for i in 0..<tapCount { taps[i] /= sum }
    }

    deinit { taps.deallocate() }

    /// Adds input frame number `frame`. Returns true if a sample of the low rate, number `frame / factor`, is due.
    @_noLocks @inline(__always)
    func push(_ x: Float, at frame: Int) -> Bool {
        past.write(x, at: frame, channel: 0)
        return factor == 1 || (frame &+ 1) % factor == 0
    }

    /// Returns the sample of the low rate that is due at input frame number `frame`.
    @_noLocks
    func value(at frame: Int) -> Float {
        let from = past.samples(from: frame &+ 1 &- tapCount, channel: 0)
        return factor == 1 ? from[0] : dotProduct(from, taps, tapCount)
    }

    @_noLocks
    func reset() { past.clear() }
}
