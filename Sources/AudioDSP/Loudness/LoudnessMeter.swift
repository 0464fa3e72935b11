// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// Loudness by ITU-R BS.1770-4 and EBU R 128: integrated with both gates, range (EBU Tech 3342), momentary and short-term, and
/// peaks. Its memory does not grow.
///
/// Offline it measures sound by ``add(_:offset:frameCount:)``; for a render thread it adds the blocks of a ``LoudnessTap`` or
/// ``MeterTap`` by ``add(_:)``. Use one or the other; for one thread at a time.
public final class LoudnessMeter {
    /// The measured values.
    public struct Measurement: Hashable, Sendable {
        /// The measured duration in seconds, in complete blocks of 100 ms.
        public var duration = 0.0
        /// The integrated loudness in LUFS; −infinity if nothing passed the gates.
        public var integrated = -Double.infinity
        /// The loudness range in LU: the distance between the loudness of soft and of loud passages of 3 s.
        public var range = 0.0
        /// The loudness of the last 400 ms in LUFS.
        public var momentary = -Double.infinity
        /// The loudness of the last 3 s in LUFS.
        public var shortTerm = -Double.infinity
        /// The greatest momentary loudness in LUFS.
        public var maximumMomentary = -Double.infinity
        /// The greatest short-term loudness in LUFS.
        public var maximumShortTerm = -Double.infinity
        /// The greatest magnitude of a sample in dBFS.
        public var peak = -Double.infinity
        /// The true peak in dBTP, measured at eight times the rate, without the last 58 frames; the same as ``peak`` if not
        /// measured.
        public var truePeak = -Double.infinity
    }

    private var tap: LoudnessTap
    private var recent = [Double](repeating: 0, count: 30)  // a ring with the energies of the last 30 blocks
    private var blockCount = 0
    private var momentaries = LoudnessHistogram()
    private var shortTerms = LoudnessHistogram()
    private var maximumMomentary = 0.0
    private var maximumShortTerm = 0.0
    private var peak: Float = 0
    private var truePeak: Float = 0

    /// Creates a meter.
    /// - Parameters:
    ///   - sampleRate: in hertz.
    ///   - channelCount: 1 to 32; see ``LoudnessTap``.
    ///   - measuresTruePeak: true to measure peaks between samples in ``add(_:offset:frameCount:)``.
    public init(sampleRate: Double, channelCount: Int, measuresTruePeak: Bool = true) {
        tap = LoudnessTap(sampleRate: sampleRate, channelCount: channelCount, measuresTruePeak: measuresTruePeak)
    }

    /// Measures sound.
    public func add(_ channels: Channels, offset: Int = 0, frameCount: Int) {
        var measured = 0
        while measured < frameCount {
            measured += tap.process(channels, offset: offset + measured, frameCount: frameCount - measured)
            if let block = tap.finished { add(block) }
        }
    }

    /// Adds a measured block of 100 ms.
    package func add(_ block: LoudnessBlock) {
        recent[blockCount % recent.count] = block.energy
        blockCount += 1
        peak = max(peak, block.peak)
        truePeak = max(truePeak, block.truePeak)
        if blockCount >= 4 {
            let energy = energy(ofLast: 4)
            momentaries.add(energy)
            maximumMomentary = max(maximumMomentary, energy)
        }
        if blockCount >= recent.count {
            let energy = energy(ofLast: recent.count)
            shortTerms.add(energy)
            maximumShortTerm = max(maximumShortTerm, energy)
        }
    }

    /// The values measured so far.
    public var measurement: Measurement {
        let samplePeak = max(peak, tap.peakSoFar)
        return Measurement(
            duration: Double(blockCount) / 10,
            integrated: loudnessUnits(ofEnergy: momentaries.gatedMean(below: 10)),
            range: shortTerms.spread(from: 0.1, to: 0.95, gate: 20),
            momentary: loudnessUnits(ofEnergy: energy(ofLast: 4)),
            shortTerm: loudnessUnits(ofEnergy: energy(ofLast: recent.count)),
            maximumMomentary: loudnessUnits(ofEnergy: maximumMomentary),
            maximumShortTerm: loudnessUnits(ofEnergy: maximumShortTerm),
            peak: decibels(samplePeak), truePeak: decibels(max(truePeak, samplePeak, tap.truePeakSoFar)))
    }

    private func decibels(_ gain: Float) -> Double { gain > 0 ? Double(gainToDecibels(gain)) : -.infinity }

    private func energy(ofLast count: Int) -> Double {
        var sum = 0.0
        for back in 1...count where back <= blockCount { sum += recent[(blockCount - back) % recent.count] }
        return sum / Double(count)
    }
}
