// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime
import EarshotAudioBase

extension TimeScaler {
    /// The mean square of about -54 dBFS; quieter sound counts as silence.
    private static var silence: Float { @_noLocks get { 4e-6 } }

    /// Returns the best number of frames to skip (`forward`) or to repeat; 0 if none is good enough, `most` in silence.
    ///
    /// The frames around the present one, `context` before and `fade` after, are compared with those that are `shortest ... most`
    /// frames later to skip, or earlier to repeat. The first search is at 12 kHz, the second frame by frame around the best
    /// result.
    @_noLocks
    func stretch(from first: Int, to last: Int, forward: Bool, _ most: Int, _ similarity: Float) -> Int {
        let width = context &+ fade
        let count = last &- first
        mix(first, count)
        var energy: Float = 0
        for i in 0..<count { energy += mono[i] * mono[i] }
        if energy < Self.silence * Float(count) { return most }
        let coarseCount = count / factor
        for i in 0..<coarseCount {
            var sum: Float = 0
            for k in 0..<factor { sum += mono[i &* factor &+ k] }
            coarse[i] = sum
        }
        // The frames around the present one begin at the index `at` of `mono`; `sign` is the direction to those compared with
        // them.
        let at = forward ? 0 : most
        let sign = forward ? 1 : -1
        let near = (at / factor, (width / factor) & ~7)
        let lags = ((shortest &+ factor &- 1) / factor, most / factor)
        let coarseMatch = bestLag(coarse, coarseCount, at: near.0, width: near.1, sign: sign, from: lags.0, to: lags.1)
        guard coarseMatch.lag > 0, coarseMatch.score >= similarity - 0.1 else { return 0 }
        let lag = coarseMatch.lag &* factor
        let fineMatch = bestLag(
            mono, count, at: at, width: width & ~7, sign: sign, from: max(shortest, lag &- factor),
            to: min(most, lag &+ factor))
        return fineMatch.score >= similarity ? fineMatch.lag : 0
    }

    /// Returns the lag, a number of samples from `from` to `to`, at which the normalized correlation with the `width` samples
    /// from `at` on is greatest, and that correlation, -1 to 1.
    @_noLocks
    private func bestLag(
        _ samples: UnsafePointer<Float>, _ count: Int, at: Int, width: Int, sign: Int, from: Int, to: Int
    ) -> (lag: Int, score: Float) {
        let reference = samples + at
        let power = earshot_dot(reference, reference, width)
        var best = (lag: 0, score: Float(-1))
        var lag = from
        while lag <= to {
            let candidate = at &+ sign &* lag
            if candidate >= 0, candidate &+ width <= count {
                let sums = earshot_dots(samples + candidate, samples + candidate, reference, width)
                let product = power * sums.x
                let score = product > 1e-20 ? sums.y / earshot_sqrtf(product) : 0
                if score > best.score { best = (lag, score) }
            }
            lag &+= 1
        }
        return best
    }

    /// Writes the sum of the channels to `mono`: `count` frames from the index `first` on.
    @_noLocks
    private func mix(_ first: Int, _ count: Int) {
        copySamples(mono, channels[0] + first, count)
        for c in 1..<max(1, channels.count) {
            for i in 0..<count { mono[i] += channels[c][first &+ i] }
        }
    }
}
