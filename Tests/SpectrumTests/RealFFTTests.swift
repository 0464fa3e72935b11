// SPDX-License-Identifier: Apache-2.0

import CEarshotKissFFT
import EarshotSpectrum
import Foundation
import Testing

@Suite struct RealFFTTests {
    @Test func `a sine is in one bin, and the inverse returns the samples`() {
        let count = 240
        let fft = RealFFT(count: count)
        let samples = (0..<count).map { Float(sin(2 * .pi * 7 * Double($0) / Double(count))) }
        var bins = [kiss_fft_cpx](repeating: kiss_fft_cpx(), count: count / 2 + 1)
        fft.forward(samples, into: &bins)
        for (bin, value) in bins.enumerated() {
            let magnitude = (value.r * value.r + value.i * value.i).squareRoot()
            #expect(abs(magnitude - (bin == 7 ? Float(count) / 2 : 0)) < 1e-3, "bin \(bin)")
        }
        var result = [Float](repeating: 0, count: count)
        fft.inverse(bins, into: &result)
        #expect(zip(samples, result).allSatisfy { abs($0 - $1 / Float(count)) < 1e-5 })
    }

    @Test func `a fast size is even, at least as large, and a product of 2, 3 and 5`() {
        for count in 1...500 {
            var rest = RealFFT.fastCount(atLeast: count)
            #expect(rest >= count && rest % 2 == 0)
            for prime in [2, 3, 5] { while rest % prime == 0 { rest /= prime } }
            #expect(rest == 1, "\(count)")
        }
    }
}
