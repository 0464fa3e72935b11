// SPDX-License-Identifier: Apache-2.0

import CEarshotKissFFT
import EarshotSpectrum
import Glibc

/// The correlation of a second's two sounds by lag, each frequency with the same weight: the smoothed coherence transform (G. C.
/// Carter, A. H. Nuttall and P. G. Cable, "The smoothed coherence transform", 1973).
struct SameRoomProfile {
    /// The values by lag, in frames; negative lags at the end.
    let values: [Float]

    /// Returns the sum of products with another profile for the lags from −reach to reach.
    func product(with other: SameRoomProfile, reach: Int) -> Float {
        var sum: Float = 0
        for lag in -reach...reach {
            let i = lag < 0 ? lag + values.count : lag
            sum += values[i] * other.values[i]
        }
        return sum
    }
}

/// Makes profiles. For one thread at a time.
final class SameRoomSpectra {
    /// The samples of a transform: 256 ms, more than the network's delay and the early reverberation.
    private static let count = 2_048
    /// The transforms begin half a transform apart.
    private static let hop = 1_024
    /// The frequencies that count, as bins: 250 to 3,000 Hz. Higher ones suffer from small movements and changes of the delay.
    private static let bins = 64..<768
    /// The power below which a bin counts as empty.
    private static let leastPower: Float = 1e-12

    private let fft = RealFFT(count: count)
    private let window: [Float]
    private var time = [Float](repeating: 0, count: count)
    private var spectrum = [kiss_fft_cpx](repeating: kiss_fft_cpx(), count: count / 2 + 1)

    init() {
        window = (0..<Self.count).map { Float(0.5 - 0.5 * cos(2 * .pi * Double($0) / Double(Self.count))) }
    }

    func profile(of batch: SameRoomBatch) -> SameRoomProfile {
        var sums = [BinSums](repeating: BinSums(), count: Self.bins.count)
        var first = 0
        while first + Self.count <= batch.voice.count {
            let microphone = transform(batch.microphone, first)
            let voice = transform(batch.voice, first)
            for i in sums.indices { sums[i].add(microphone[i], voice[i]) }
            first += Self.hop
        }
        for i in spectrum.indices { spectrum[i] = kiss_fft_cpx() }
        for (i, bin) in Self.bins.enumerated() { spectrum[bin] = sums[i].coherence(leastPower: Self.leastPower) }
        fft.inverse(spectrum, into: &time)
        let scale = 1 / Float(2 * Self.bins.count)
        return SameRoomProfile(values: time.map { $0 * scale })
    }

    private func transform(_ samples: [Float], _ first: Int) -> [kiss_fft_cpx] {
        for i in time.indices { time[i] = samples[first + i] * window[i] }
        fft.forward(time, into: &spectrum)
        return Array(spectrum[Self.bins])
    }
}

/// The powers and the cross power of two sounds at a frequency.
private struct BinSums {
    private var microphone: Float = 0
    private var voice: Float = 0
    private var cross = SIMD2<Float>()

    mutating func add(_ m: kiss_fft_cpx, _ v: kiss_fft_cpx) {
        microphone += m.r * m.r + m.i * m.i
        voice += v.r * v.r + v.i * v.i
        cross += SIMD2(m.r * v.r + m.i * v.i, m.r * v.i - m.i * v.r)
    }

    func coherence(leastPower: Float) -> kiss_fft_cpx {
        guard microphone > leastPower, voice > leastPower else { return kiss_fft_cpx() }
        let value = cross / (microphone * voice).squareRoot()
        return kiss_fft_cpx(r: value.x, i: value.y)
    }
}
