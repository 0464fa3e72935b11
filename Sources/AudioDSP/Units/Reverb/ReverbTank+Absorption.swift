// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime
import EarshotAudioBase

extension ReverbTank {
    /// Applies low-passes and gains to a group of four delay lines, frame by frame, also while gains and coefficients change.
    @_noLocks
    func absorb(_ group: Int, _ scratch: ReverbScratch, from: Int, to: Int, _ absorption: ReverbAbsorption) {
        let rowStride = ReverbGeometry.row
        let rows = scratch.lines + 4 &* group &* rowStride
        var high = absorption.gains[group]
        var middleExtra = absorption.gains[4 &+ group]
        var lowExtra = absorption.gains[8 &+ group]
        let gainsMove = absorption.framesRemaining > 0
        var lowState = states[2 &* group]
        var highState = states[2 &* group &+ 1]
        for f in from..<to {
            if gainsMove {
                high += absorption.steps[group]
                middleExtra += absorption.steps[4 &+ group]
                lowExtra += absorption.steps[8 &+ group]
            }
            let x = SIMD4(rows[f], rows[rowStride &+ f], rows[2 &* rowStride &+ f], rows[3 &* rowStride &+ f])
            let y = filter(
                x, &lowState, &highState, lowExtra, middleExtra, high, SIMD4(repeating: scratch.lowPole[f]),
                SIMD4(repeating: scratch.highPole[f]))
            rows[f] = y[0]
            rows[rowStride &+ f] = y[1]
            rows[2 &* rowStride &+ f] = y[2]
            rows[3 &* rowStride &+ f] = y[3]
        }
        states[2 &* group] = lowState
        states[2 &* group &+ 1] = highState
    }

    /// Applies low-passes and gains to a group of four delay lines, four frames at a time, while gains and coefficients are
    /// constant. `count` is a multiple of four.
    @_noLocks
    func absorbFours(_ group: Int, _ scratch: ReverbScratch, _ count: Int, _ absorption: ReverbAbsorption) {
        let rowStride = ReverbGeometry.row
        let rows = scratch.lines + 4 &* group &* rowStride
        let high = absorption.gains[group]
        let middleExtra = absorption.gains[4 &+ group]
        let lowExtra = absorption.gains[8 &+ group]
        let lowPole = SIMD4(repeating: scratch.lowPole[0])
        let highPole = SIMD4(repeating: scratch.highPole[0])
        var lowState = states[2 &* group]
        var highState = states[2 &* group &+ 1]
        var f = 0
        while f < count {
            let p = rows + f
            let a = load4(p)
            let b = load4(p + rowStride)
            let c = load4(p + 2 &* rowStride)
            let d = load4(p + 3 &* rowStride)
            let x0 = filter(
                SIMD4(a[0], b[0], c[0], d[0]), &lowState, &highState, lowExtra, middleExtra, high, lowPole, highPole)
            let x1 = filter(
                SIMD4(a[1], b[1], c[1], d[1]), &lowState, &highState, lowExtra, middleExtra, high, lowPole, highPole)
            let x2 = filter(
                SIMD4(a[2], b[2], c[2], d[2]), &lowState, &highState, lowExtra, middleExtra, high, lowPole, highPole)
            let x3 = filter(
                SIMD4(a[3], b[3], c[3], d[3]), &lowState, &highState, lowExtra, middleExtra, high, lowPole, highPole)
            store4(SIMD4(x0[0], x1[0], x2[0], x3[0]), p)
            store4(SIMD4(x0[1], x1[1], x2[1], x3[1]), p + rowStride)
            store4(SIMD4(x0[2], x1[2], x2[2], x3[2]), p + 2 &* rowStride)
            store4(SIMD4(x0[3], x1[3], x2[3], x3[3]), p + 3 &* rowStride)
            f &+= 4
        }
        states[2 &* group] = lowState
        states[2 &* group &+ 1] = highState
    }

    /// Filters a frame of four lines. Only one product and one sum lie between a state and its next value, so that the next frame
    /// can begin soon. `middleExtra` is the middle gain minus the high gain, `lowExtra` the low gain minus the middle gain.
    @_noLocks @inline(__always)
    private func filter(
        _ x: SIMD4<Float>, _ lowState: inout SIMD4<Float>, _ highState: inout SIMD4<Float>, _ lowExtra: SIMD4<Float>,
        _ middleExtra: SIMD4<Float>, _ high: SIMD4<Float>, _ lowPole: SIMD4<Float>, _ highPole: SIMD4<Float>
    ) -> SIMD4<Float> {
        let one = SIMD4<Float>(repeating: 1)
        let (twiceHigh, twiceLow) = (highPole + highPole, lowPole + lowPole)
        let belowHigh = highState + (x - highState) * highPole
        highState = highState * (one - twiceHigh) + x * twiceHigh
        let belowLow = lowState + (x - lowState) * lowPole
        lowState = lowState * (one - twiceLow) + x * twiceLow
        return high * x + (middleExtra * belowHigh + lowExtra * belowLow)
    }
}
