// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// The K-weighting filters of several channels, two at a time, and the sums of the squared samples before and after them.
struct KWeightingState: ~Copyable {
    /// The filters' states and the sums of two channels.
    private struct Pair: BitwiseCopyable {
        var s1 = SIMD2<Double>()  // the shelf's two states
        var s2 = SIMD2<Double>()
        var t1 = SIMD2<Double>()  // the high-pass's two states
        var t2 = SIMD2<Double>()
        var weighted = SIMD2<Double>()  // the sums of the squared filtered samples
        var plain = SIMD2<Double>()  // the sums of the squared input samples
        let weights: SIMD2<Double>  // the channels' weights in the loudness
    }
    private let shelf: WeightingSection
    private let highPass: WeightingSection
    private let pairs: UnsafeMutablePointer<Pair>
    private let pairCount: Int
    private let channelCount: Int

    init(sampleRate: Double, channelCount: Int) {
        shelf = KWeighting.shelf(sampleRate: sampleRate)
        highPass = KWeighting.highPass(sampleRate: sampleRate)
        self.channelCount = channelCount
        pairCount = (channelCount + 1) / 2
        pairs = .allocate(capacity: pairCount)
        for k in 0..<pairCount {
            let a = KWeighting.weight(of: 2 * k, channelCount: channelCount)
            let b = 2 * k + 1 < channelCount ? KWeighting.weight(of: 2 * k + 1, channelCount: channelCount) : 0
            (pairs + k).initialize(to: Pair(weights: SIMD2(a, b)))
        }
    }

    deinit { pairs.deallocate() }

    /// Filters frames and adds their squares to the sums. Returns the frames' greatest magnitude before the filters.
    @_noLocks
    mutating func process(_ channels: Channels, offset: Int, frameCount: Int) -> Float {
        var top: Float = 0
        let f = shelf
        let g = highPass
        for k in 0..<pairCount {
            let left = channels[2 &* k] + offset
            let hasRight = 2 &* k &+ 1 < channelCount
            let right = hasRight ? channels[2 &* k &+ 1] + offset : left
            var p = pairs[k]
            for i in 0..<frameCount {
                let l = left[i]
                let r = hasRight ? right[i] : 0
                let a = l < 0 ? -l : l
                let b = r < 0 ? -r : r
                top = a > top ? a : top
                top = b > top ? b : top
                let x = SIMD2<Double>(Double(l), Double(r))
                let y = x * f.b0 + p.s1
                p.s1 = x * f.b1 - y * f.a1 + p.s2
                p.s2 = x * f.b2 - y * f.a2
                let z = y * g.b0 + p.t1
                p.t1 = y * g.b1 - z * g.a1 + p.t2
                p.t2 = y * g.b2 - z * g.a2
                p.weighted += z * z
                p.plain += x * x
            }
            pairs[k] = p
        }
        return top
    }

    /// Returns and clears the sums of the squared samples over all channels: filtered, times the channels' weights; and
    /// unfiltered.
    @_noLocks
    mutating func takeSums() -> (weighted: Double, plain: Double) {
        var weighted = 0.0
        var plain = 0.0
        for k in 0..<pairCount {
            let w = pairs[k].weighted * pairs[k].weights
            weighted += w[0] + w[1]
            plain += pairs[k].plain[0] + pairs[k].plain[1]
            pairs[k].weighted = SIMD2<Double>(repeating: 0)
            pairs[k].plain = SIMD2<Double>(repeating: 0)
        }
        return (weighted, plain)
    }

    @_noLocks
    mutating func reset() {
        let zero = SIMD2<Double>(repeating: 0)
        for k in 0..<pairCount {
            pairs[k].s1 = zero
            pairs[k].s2 = zero
            pairs[k].t1 = zero
            pairs[k].t2 = zero
            pairs[k].weighted = zero
            pairs[k].plain = zero
        }
    }
}
