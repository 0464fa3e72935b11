// SPDX-License-Identifier: Apache-2.0

import CEarshotKissFFT
import EarshotAudioBase
import EarshotSpectrum
import Glibc

/// The power of a sound over time and frequency: short-time Fourier transform under a Hann window.
public struct Spectrogram: Sendable {
    /// Seconds from the first sample to the middle of the first column.
    package let firstColumnTime: Double
    /// Seconds between columns.
    public let columnInterval: Double
    /// The number of columns, in the order of time.
    public let columnCount: Int
    /// Hertz between bins; bin 0 is 0 Hz.
    public let binInterval: Double
    /// Bins per column; the last one is half the sample rate.
    public let binCount: Int
    /// The powers, column by column; 1 is a full-scale sine.
    public let powers: [Float]

    /// - Parameters:
    ///   - frameLength: samples per transform; even.
    ///   - hop: samples between transforms.
    ///   - maximumColumnCount: if there are more columns, adjacent ones are averaged to limit memory.
    public init(
        samples: [Float], sampleRate: Double, frameLength: Int = 1024, hop: Int = 256,
        maximumColumnCount: Int = 8192
    ) {
        precondition(frameLength >= 2 && frameLength % 2 == 0 && hop >= 1 && maximumColumnCount >= 1)
        let frames = samples.isEmpty ? 0 : max(1, (samples.count - frameLength) / hop + 1)
        let framesPerColumn = max(1, (frames + maximumColumnCount - 1) / maximumColumnCount)
        let bins = frameLength / 2 + 1
        columnCount = (frames + framesPerColumn - 1) / framesPerColumn
        binCount = bins
        binInterval = sampleRate / Double(frameLength)
        columnInterval = Double(hop * framesPerColumn) / sampleRate
        firstColumnTime = (Double(frameLength) + Double(hop * (framesPerColumn - 1))) / 2 / sampleRate

        let window = (0..<frameLength).map { Float(0.5 - 0.5 * cos(2 * .pi * Double($0) / Double(frameLength))) }
        let scale = pow(2 / window.reduce(0, +), 2)
        let fft = RealFFT(count: frameLength)
        var block = [Float](repeating: 0, count: frameLength)
        var spectrum = [kiss_fft_cpx](repeating: kiss_fft_cpx(), count: bins)
        var powers = [Float](repeating: 0, count: columnCount * bins)
        for frame in 0..<frames {
            let start = frame * hop
            for i in 0..<frameLength { block[i] = start + i < samples.count ? samples[start + i] * window[i] : 0 }
            fft.forward(block, into: &spectrum)
            let column = frame / framesPerColumn
            let share = scale / Float(min(framesPerColumn, frames - column * framesPerColumn))
            for bin in 0..<bins {
                let value = spectrum[bin]
                powers[column * bins + bin] += share * (value.r * value.r + value.i * value.i)
            }
        }
        self.powers = powers
    }

    /// The power of one bin in one column.
    public subscript(column: Int, bin: Int) -> Float { powers[column * binCount + bin] }

    /// Returns the highest frequency, in hertz, at which any column reaches `power`; 0 if no column does.
    func highestFrequency(reaching power: Float) -> Double {
        for bin in stride(from: binCount - 1, through: 0, by: -1) {
            for column in 0..<columnCount where self[column, bin] >= power { return Double(bin) * binInterval }
        }
        return 0
    }
}

extension Spectrogram {
    /// Creates a spectrogram for pictures: frames of 21 ms (1024 at 48 kHz) every 5 ms at any sample rate, so that sample rates
    /// can be compared.
    init(_ signal: TimedSignal) {
        let quarter = max(8, Int((256 * signal.sampleRate / 48_000).rounded(.up)))
        self.init(
            samples: signal.samples, sampleRate: signal.sampleRate, frameLength: 4 * quarter, hop: quarter)
    }
}
