// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Synchronization
import TestSupport
import Testing

@Suite struct LatestValueConcurrentTests {
    private struct Wide: BitwiseCopyable, Sendable {
        var a: Int
        var b: Int
        var c: Int
        var d: Int
        init(_ n: Int) { (a, b, c, d) = (n, ~n, n &* 3, n ^ 0x55) }
        var isWhole: Bool { b == ~a && c == a &* 3 && d == a ^ 0x55 }
    }

    @Test func valuesAreWholeNeverGoBackAndTheLastArrives() {
        let box = LatestValue(Wide(0))
        let total = 200_000
        let wrong = Atomic(0)
        onTwoThreads {
            var random = SeededRandom(seed: 5)
            for n in 1...total {
                box.writer.store(Wide(n))
                if n & 63 == 0 { stall(&random) }
            }
        } _: {
            var random = SeededRandom(seed: 6)
            var last = 0
            while last < total {
                let value = box.load()
                if value.a < last || !value.isWhole { wrong.add(1, ordering: .relaxed) }
                if value.a == last { stall(&random) }
                last = max(last, value.a)
            }
        }
        #expect(wrong.load(ordering: .relaxed) == 0)
    }
}
