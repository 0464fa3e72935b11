// SPDX-License-Identifier: Apache-2.0

import CEarshotKissFFT
import EarshotSpectrum

/// Cross-correlates a window with a longer signal, by FFT. For one thread at a time.
package final class Correlator {
    private let fft: RealFFT
    private let lagCount: Int
    private let signalLength: Int
    private var time: [Float]
    private var a: [kiss_fft_cpx]  // spectrum of the window
    private var b: [kiss_fft_cpx]  // spectrum of the signal, then of the correlation

    package init(window: Int, lags: Int) {
        lagCount = lags
        signalLength = window + lags
        fft = RealFFT(count: RealFFT.fastCount(atLeast: signalLength))
        time = [Float](repeating: 0, count: fft.count)
        a = [kiss_fft_cpx](repeating: kiss_fft_cpx(), count: fft.count / 2 + 1)
        b = a
    }

    /// Returns Σ window[i] · signal[first + lag + i] for each lag from 0. The signal counts as zero outside its bounds.
    package func correlate(_ window: ArraySlice<Float>, _ signal: [Float], _ first: Int) -> [Float] {
        fill(window, window.startIndex)
        fft.forward(time, into: &a)
        let low = min(max(0, first), signal.count)
        fill(signal[low..<min(max(low, first + signalLength), signal.count)], first)
        fft.forward(time, into: &b)
        for i in b.indices {
            let (re, im) = (b[i].r * a[i].r + b[i].i * a[i].i, b[i].i * a[i].r - b[i].r * a[i].i)
            b[i].r = re
            b[i].i = im
        }
        fft.inverse(b, into: &time)
        let scale = 1 / Float(fft.count)
        return time[..<lagCount].map { $0 * scale }
    }

    /// Returns the offset of the peak of a parabola through three samples from the middle one, the largest: −0.5 to 0.5 samples.
    static func peakOffset(_ left: Double, _ top: Double, _ right: Double) -> Double {
        let bend = left - 2 * top + right
        return bend < 0 ? max(-0.5, min(0.5, (left - right) / (2 * bend))) : 0
    }

    /// Copies a slice to the transform's input: its index `first` goes to 0. The rest is zero.
    private func fill(_ slice: ArraySlice<Float>, _ first: Int) {
        let at = slice.startIndex - first
        time.withUnsafeMutableBufferPointer { time in
            time.update(repeating: 0)
            slice.withUnsafeBufferPointer { _ = time[at...].update(fromContentsOf: $0) }
        }
    }
}
