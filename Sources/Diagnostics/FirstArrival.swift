// SPDX-License-Identifier: Apache-2.0

import CEarshotKissFFT
import EarshotSpectrum
import Glibc

/// The first arrival of a sweep that was played in a room: the direct sound, although a reflection may be louder.
///
/// The captured sound, divided by the sweep, is the room's impulse response within the sweep's band. The direct sound is the first
/// maximum of its envelope, shortly before the loudest, that is neither noise nor the pulse's own ripple.
struct FirstArrival {
    /// The round trip in frames.
    let frames: Double
    /// The level of the loudest arrival above the noise, in dB.
    let signalToNoise: Double

    /// The level of the direct sound relative to the loudest arrival that must stand out of the noise.
    private static let neededShare: Float = 0.2
    /// The least level of the direct sound relative to the loudest arrival. Ripple of the pulse is weaker.
    private static let leastShare: Float = 0.1
    /// The seconds by which the direct sound may come before the loudest arrival: 20 m. The distortion of a loudspeaker comes
    /// 0.12 s before.
    private static let greatestLead = 0.06
    /// The ratio of an arrival to the root mean square of the noise. Noise exceeds it once in 10⁸ frames.
    private static let leastRatio: Float = 4.5
    /// The share of the response, at its end, that is taken for noise.
    private static let noiseShare = 0.2

    /// Finds the first arrival in one captured channel, which begins with the sweep's first frame. Fails with
    /// ``CalibrationError/noEcho``, ``CalibrationError/noise`` or ``CalibrationError/lostFrames``.
    static func find(
        in samples: [Float], probe: [Float], sampleRate: Double
    ) -> Result<FirstArrival, CalibrationError> {
        let lagCount = samples.count - probe.count
        guard lagCount > 2 else { return .failure(.lostFrames) }
        let envelope = ResponseEnvelope.of(samples, probe: probe, sampleRate: sampleRate).prefix(lagCount)
        let tail = envelope.suffix(max(1, Int(Double(lagCount) * Self.noiseShare)))
        let noise = (tail.reduce(0) { $0 + $1 * $1 } / Float(tail.count)).squareRoot()
        guard let loudest = envelope.indices.max(by: { envelope[$0] < envelope[$1] }) else { return .failure(.noEcho) }
        let peak = envelope[loudest]
        guard peak > Self.leastRatio * noise, peak > 0 else { return .failure(.noEcho) }
        guard Self.neededShare * peak > Self.leastRatio * noise else { return .failure(.noise) }
        let threshold = max(Self.leastShare * peak, Self.leastRatio * noise)
        let first = max(0, loudest - Int(Self.greatestLead * sampleRate))
        var frame = envelope[first...].firstIndex { $0 >= threshold } ?? loudest
        while frame + 1 < envelope.count, envelope[frame + 1] > envelope[frame] { frame += 1 }
        let neighbours = (envelope[max(0, frame - 1)], envelope[min(envelope.count - 1, frame + 1)])
        let fraction = Correlator.peakOffset(
            Double(neighbours.0), Double(envelope[frame]), Double(neighbours.1))
        return .success(
            FirstArrival(
                frames: Double(frame) + fraction, signalToNoise: 20 * log10(Double(peak / max(1e-12, noise)))))
    }
}

/// The envelope of the impulse response between a sweep and its echo, within the sweep's band.
enum ResponseEnvelope {
    /// The energy below which a frequency of the sweep counts as absent, relative to the strongest.
    private static let leastEnergy: Float = 1e-4

    static func of(_ samples: [Float], probe: [Float], sampleRate: Double) -> [Float] {
        let fft = RealFFT(count: RealFFT.fastCount(atLeast: samples.count + probe.count))
        var bins = [kiss_fft_cpx](repeating: kiss_fft_cpx(), count: fft.count / 2 + 1)
        var sweep = bins
        fft.forward(samples + [Float](repeating: 0, count: fft.count - samples.count), into: &bins)
        fft.forward(probe + [Float](repeating: 0, count: fft.count - probe.count), into: &sweep)
        let floor = leastEnergy * (sweep.map { $0.r * $0.r + $0.i * $0.i }.max() ?? 1)
        let (low, high) = (ProbeSignal.lowestFrequency, ProbeSignal.highestFrequency(rate: sampleRate))
        for k in bins.indices {
            let share = (Double(k) / Double(fft.count) * sampleRate - low) / (high - low)
            let window = share > 0 && share < 1 ? Float(0.5 - 0.5 * cos(2 * .pi * share)) : 0
            let (a, b) = (bins[k], sweep[k])
            let weight = window / (b.r * b.r + b.i * b.i + floor) / Float(fft.count)
            bins[k].r = weight * (a.r * b.r + a.i * b.i)
            bins[k].i = weight * (a.i * b.r - a.r * b.i)
        }
        var real = [Float](repeating: 0, count: fft.count)
        fft.inverse(bins, into: &real)
        // The Hilbert transform: a quarter of a turn for each frequency.
        for k in bins.indices { (bins[k].r, bins[k].i) = (bins[k].i, -bins[k].r) }
        var imaginary = real
        fft.inverse(bins, into: &imaginary)
        return zip(real, imaginary).map { ($0 * $0 + $1 * $1).squareRoot() }
    }
}
