// SPDX-License-Identifier: Apache-2.0

import CEarshotKissFFT
import CEarshotRealtime
import EarshotAudioBase
import EarshotAudioDSP
import EarshotSpectrum
import Glibc

/// Follows the peaks in the spectrum of a sound over windows of 43 to 45 ms, one every 10 ms. Owns memory of the render thread.
///
/// A peak counts if it is 12 dB above its surroundings. It is alone if its second and third harmonics, and any tone of which it would
/// be a harmonic, are at least 12 dB weaker. Both are criteria of T. van Waterschoot and M. Moonen, "Comparative evaluation of howling
/// detection criteria in notch-filter-based howling suppression", 2010: peak-to-neighbouring and peak-to-harmonic power ratio.
struct ToneTracker: ~Copyable {
    /// The seconds between two windows.
    static var hop: Double { @_noLocks get { 0.01 } }
    private static let windowSeconds = 0.0427
    /// The frequencies in hertz at which feedback is looked for.
    private static let (lowest, highest) = (200.0, 10_000.0)
    private static var trackCapacity: Int { @_noLocks get { 16 } }
    private static var peakCapacity: Int { @_noLocks get { 12 } }
    /// The ratio of powers, 12 dB, that makes a peak, and that makes it alone.
    private static var prominence: Float { @_noLocks get { 15.85 } }
    /// The least power of a peak: −75 dB.
    private static var leastPower: Float { @_noLocks get { 3.2e-8 } }
    /// The least distance in bins between a tone and its neighbours in a series of harmonics at which their powers do not mix.
    private static var lobe: Float { @_noLocks get { 4 } }
    /// The greatest change of a tone's frequency between two windows, in bins.
    private static var tolerance: Float { @_noLocks get { 0.5 } }

    /// The hertz of a bin.
    let binWidth: Double
    /// The frames of a window, and between two windows.
    let (length, hopLength): (Int, Int)
    /// The tracks, ``trackCount`` of them.
    let tracks: UnsafeMutablePointer<ToneTrack>
    private(set) var trackCount = 0
    private let fft: RealFFT
    private let transform: RealFFT.Renderer
    private let shape: UnsafeMutablePointer<Float>
    private let windowed: UnsafeMutablePointer<Float>
    private let bins: UnsafeMutablePointer<kiss_fft_cpx>
    /// The powers of the bins; 1 is a sine with the amplitude 1.
    private let powers: UnsafeMutablePointer<Float>
    private let peaks: UnsafeMutablePointer<SpectralPeak>
    private let levels: UnsafeMutablePointer<Float>
    private let (firstBin, endBin): (Int, Int)

    init(sampleRate: Double) {
        length = RealFFT.fastCount(atLeast: Int(sampleRate * Self.windowSeconds))
        hopLength = Int(sampleRate * Self.hop)
        binWidth = sampleRate / Double(length)
        fft = RealFFT(count: length)
        transform = fft.renderer
        firstBin = max(9, Int(Self.lowest / binWidth))
        endBin = Int(min(Self.highest, 0.45 * sampleRate) / binWidth)
        shape = .allocate(capacity: length)
        windowed = .allocate(capacity: length)
        for i in 0..<length {
            // A Hann window, for which a sine with the amplitude 1 has the power 1.
            shape[i] = Float((1 - cos(2 * .pi * Double(i) / Double(length))) * 2 / Double(length))
            windowed[i] = 0
        }
        bins = .allocate(capacity: length / 2 + 1)
        powers = .allocate(capacity: length / 2 + 1)
        powers.initialize(repeating: 0, count: length / 2 + 1)
        peaks = .allocate(capacity: Self.peakCapacity)
        tracks = .allocate(capacity: Self.trackCapacity)
        levels = .allocate(capacity: Self.trackCapacity * ToneTrack.capacity)
        levels.initialize(repeating: 0, count: Self.trackCapacity * ToneTrack.capacity)
        for index in 0..<Self.trackCapacity {
            (tracks + index).initialize(to: ToneTrack(levels: levels + index * ToneTrack.capacity, frequency: 0))
        }
    }

    deinit {
        shape.deallocate()
        windowed.deallocate()
        bins.deallocate()
        powers.deallocate()
        peaks.deallocate()
        tracks.deallocate()
        levels.deallocate()
    }

    /// Forgets all tracks.
    @_noLocks
    mutating func restart() { trackCount = 0 }

    /// Adds a window of ``length`` samples, which end ``hopLength`` after the last ones.
    @_noLocks
    mutating func add(_ samples: UnsafePointer<Float>) {
        for i in 0..<length { windowed[i] = samples[i] * shape[i] }
        transform.forward(windowed, into: bins)
        for k in 0...length / 2 { powers[k] = bins[k].r * bins[k].r + bins[k].i * bins[k].i }
        follow(findPeaks())
    }

    /// Returns the level in decibels near a frequency, in bins.
    @_noLocks
    func level(at frequency: Float) -> Float { powerToDecibels(greatestPower(around: frequency)) }

    @_noLocks
    private func greatestPower(around frequency: Float) -> Float {
        let bin = Int(frequency + 0.5)
        guard bin >= 1, bin < length / 2 else { return 0 }
        return max(max(powers[bin &- 1], powers[bin]), powers[bin &+ 1])
    }

    /// Writes the strongest peaks to ``peaks``, and returns their number.
    @_noLocks
    private func findPeaks() -> Int {
        var count = 0
        for bin in firstBin..<endBin where powers[bin] > powers[bin &- 1] && powers[bin] >= powers[bin &+ 1] {
            guard powers[bin] > Self.leastPower else { continue }
            var surroundings: Float = 0
            for distance in 4...8 { surroundings += powers[bin &- distance] + powers[bin &+ distance] }
            guard powers[bin] > Self.prominence * surroundings / 10 else { continue }
            let peak = makePeak(bin)
            // The list is sorted, the strongest first.
            var place = min(count, Self.peakCapacity &- 1)
            if count == Self.peakCapacity, peaks[place].level >= peak.level { continue }
            while place > 0, peaks[place &- 1].level < peak.level {
                peaks[place] = peaks[place &- 1]
                place &-= 1
            }
            peaks[place] = peak
            count = min(count &+ 1, Self.peakCapacity)
        }
        return count
    }

    /// Makes a peak with the vertex of a parabola through three bins.
    @_noLocks
    private func makePeak(_ bin: Int) -> SpectralPeak {
        let (before, at, after) = (
            powerToDecibels(powers[bin &- 1]), powerToDecibels(powers[bin]), powerToDecibels(powers[bin &+ 1])
        )
        let curvature = before - 2 * at + after
        let offset = curvature < 0 ? 0.5 * (before - after) / curvature : 0
        let frequency = Float(bin) + offset
        return SpectralPeak(
            frequency: frequency, level: at - 0.25 * (before - after) * offset,
            isAlone: isAlone(frequency, limit: powers[bin] / Self.prominence))
    }

    /// Returns true if a tone has no harmonic with this power, and is none of such a tone.
    @_noLocks
    private func isAlone(_ frequency: Float, limit: Float) -> Bool {
        if greatestPower(around: 2 * frequency) >= limit || greatestPower(around: 3 * frequency) >= limit
            || greatestPower(around: frequency / 2) >= limit || greatestPower(around: frequency / 3) >= limit
            || greatestPower(around: 2 * frequency / 3) >= limit || greatestPower(around: 3 * frequency / 2) >= limit
        {
            return false
        }
        // The fourth to the eighth harmonic has a strong one on each side, apart from the tone's own lobe of the spectrum.
        for number in 4...8 {
            let fundamental = frequency / Float(number)
            if fundamental > Self.lobe, greatestPower(around: frequency - fundamental) >= limit,
                greatestPower(around: frequency + fundamental) >= limit
            {
                return false
            }
        }
        return true
    }

    /// Continues the tracks with the peaks, and begins tracks for the others.
    @_noLocks
    private mutating func follow(_ peakCount: Int) {
        var used: UInt64 = 0
        var kept = 0
        for index in 0..<trackCount {
            var best = -1
            var distance = Self.tolerance
            for p in 0..<peakCount where used & 1 << UInt64(p) == 0 {
                let difference = abs(peaks[p].frequency - tracks[index].frequency)
                if difference < distance { (best, distance) = (p, difference) }
            }
            if best >= 0 {
                tracks[index].add(peaks[best])
                used |= 1 << UInt64(best)
            } else {
                tracks[index].addMiss()
            }
            guard !tracks[index].isOver else { continue }
            swap(kept, index)
            kept &+= 1
        }
        trackCount = kept
        for p in 0..<peakCount where used & 1 << UInt64(p) == 0 && trackCount < Self.trackCapacity {
            tracks[trackCount] = ToneTrack(levels: tracks[trackCount].memory, frequency: peaks[p].frequency)
            tracks[trackCount].add(peaks[p])
            trackCount &+= 1
        }
    }

    /// Exchanges two tracks: each keeps its memory.
    @_noLocks
    private func swap(_ one: Int, _ other: Int) {
        guard one != other else { return }
        let track = tracks[one]
        tracks[one] = tracks[other]
        tracks[other] = track
    }

    @_noLocks
    private func powerToDecibels(_ power: Float) -> Float { gainToDecibels(power) / 2 }
}
