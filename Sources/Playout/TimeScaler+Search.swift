// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime
import EarshotAudioBase

extension TimeScaler {
    /// The mean square of about -54 dBFS, below which is silence.
    private static var silence: Float { @_noLocks get { 4e-6 } }

    /// Returns the best number of frames to skip (`forward`) or to repeat; 0 if none is good enough, `most` in silence.
    ///
    /// It compares the frames around the present one, `context` before and `fade` after, with those `shortest ... most` frames
    /// later to skip, or earlier to repeat: at 12 kHz first, then frame by frame around the best.
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
        // The frames around the present one begin at `at`, in the mix; `sign` is the direction of the others.
        let at = forward ? 0 : most
        let sign = forward ? 1 : -1
        let near = (at / factor, (width / factor) & ~7)
        let lags = ((shortest &+ factor &- 1) / factor, most / factor)
        let rough = likest(coarse, coarseCount, at: near.0, width: near.1, sign: sign, from: lags.0, to: lags.1)
        guard rough.lag > 0, rough.score >= similarity - 0.1 else { return 0 }
        let lag = rough.lag &* factor
        let fine = likest(
            mono, count, at: at, width: width & ~7, sign: sign, from: max(shortest, lag &- factor),
            to: min(most, lag &+ factor))
        return fine.score >= similarity ? fine.lag : 0
    }

    /// Returns the distance at which the normalized correlation, -1 to 1, with the frames from `at` on is greatest.
    @_noLocks
    private func likest(
        _ samples: UnsafePointer<Float>, _ count: Int, at: Int, width: Int, sign: Int, from: Int, to: Int
    ) -> (lag: Int, score: Float) {
        let here = samples + at
        let power = earshot_dot(here, here, width)
        var best = (lag: 0, score: Float(-1))
        var lag = from
        while lag <= to {
            let there = at &+ sign &* lag
            if there >= 0, there &+ width <= count {
                let sums = earshot_dots(samples + there, samples + there, here, width)
                let product = power * sums.x
                let score = product > 1e-20 ? sums.y / earshot_sqrtf(product) : 0
                if score > best.score { best = (lag, score) }
            }
            lag &+= 1
        }
        return best
    }

    /// Writes the sum of the channels to `mono`.
    @_noLocks
    private func mix(_ first: Int, _ count: Int) {
        copySamples(mono, channels[0] + first, count)
        for c in 1..<max(1, channels.count) {
            for i in 0..<count { mono[i] += channels[c][first &+ i] }
        }
    }
}
