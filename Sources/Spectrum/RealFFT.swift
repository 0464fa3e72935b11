// SPDX-License-Identifier: Apache-2.0

import CEarshotKissFFT
import Glibc

/// A real-input FFT and its inverse, by kissfft. For one thread at a time.
package final class RealFFT {
    /// The number of real samples in a transform.
    package let count: Int
    private let forwardPlan: kiss_fftr_cfg
    private let inversePlan: kiss_fftr_cfg

    /// Returns the smallest even size, at least `count`, for which kissfft is fast (a product of 2, 3 and 5).
    package static func fastCount(atLeast count: Int) -> Int { Int(kiss_fft_next_fast_size(CInt((count + 1) / 2))) * 2 }

    /// - Precondition: `count` is even and positive.
    package init(count: Int) {
        precondition(count > 0 && count % 2 == 0)
        guard let forward = kiss_fftr_alloc(CInt(count), 0, nil, nil),
            let inverse = kiss_fftr_alloc(CInt(count), 1, nil, nil)
        else { fatalError("out of memory for an FFT of \(count)") }
        self.count = count
        forwardPlan = forward
        inversePlan = inverse
    }

    deinit {
        free(UnsafeMutableRawPointer(forwardPlan))
        free(UnsafeMutableRawPointer(inversePlan))
    }

    /// Transforms `count` samples to `count / 2 + 1` bins.
    package func forward(_ samples: [Float], into bins: inout [kiss_fft_cpx]) {
        precondition(samples.count == count && bins.count == count / 2 + 1)
        kiss_fftr(forwardPlan, samples, &bins)
    }

    /// Returns the powers of the bins of `count` samples.
    package func powers(of samples: [Float]) -> [Float] {
        var bins = [kiss_fft_cpx](repeating: kiss_fft_cpx(), count: count / 2 + 1)
        forward(samples, into: &bins)
        return bins.map { $0.r * $0.r + $0.i * $0.i }
    }

    /// The forward transform for a render thread; must not outlive this object.
    package struct Renderer: @unchecked Sendable {  // one thread at a time uses the plan
        fileprivate let plan: kiss_fftr_cfg

        /// Transforms `count` samples to `count / 2 + 1` bins of other memory. The count must come from
        /// ``RealFFT/fastCount(atLeast:)``.
        @_noLocks
        package func forward(_ samples: UnsafePointer<Float>, into bins: UnsafeMutablePointer<kiss_fft_cpx>) {
            earshot_fft_forward(plan, samples, bins)
        }
    }
    package var renderer: Renderer { Renderer(plan: forwardPlan) }

    /// Transforms `count / 2 + 1` bins to `count` samples. The result is `count` times too large.
    package func inverse(_ bins: [kiss_fft_cpx], into samples: inout [Float]) {
        precondition(samples.count == count && bins.count == count / 2 + 1)
        kiss_fftri(inversePlan, bins, &samples)
    }
}
