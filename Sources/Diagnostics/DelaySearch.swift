// SPDX-License-Identifier: Apache-2.0

/// The algorithm of ``DelayMeasurement``: it correlates the windows, determines a guide from all of them, and then finds each
/// window's peak.
struct DelaySearch {
    private let options: DelayMeasurement.Options
    private let rate: Double
    private let sent: [Float]
    private let heard: [Float]
    private let heardEnergy: [Double]  // sums of squares of `heard` before each index
    /// The index in `heard` of the first sent frame at lag 0, which is the minimum delay minus the margin.
    private let offset: Int
    /// The fraction of a frame that `offset` leaves, 0 to 1.
    private let remainder: Double
    private let lagCount: Int
    private let windowCount: Int
    private static let binSeconds = 0.0025
    private static let margin = 4  // lags searched on either side of the range, so that a peak on its edge is whole

    init(sent: TimedSignal, heard: TimedSignal, options: DelayMeasurement.Options) {
        self.options = options
        rate = min(16_000, sent.sampleRate, heard.sampleRate)
        self.sent = Self.emphasised(sent.cleaned.resampled(to: rate))
        self.heard = Self.emphasised(heard.cleaned.resampled(to: rate))
        var sum = 0.0
        heardEnergy =
            [0]
            + self.heard.map { sample in
                sum += Double(sample) * Double(sample)
                return sum
            }
        let least = sent.firstFrameTime.seconds(since: heard.firstFrameTime) + options.searchRange.lowerBound
        let frames = max(-1e12, min(1e12, least * rate)) - Double(Self.margin)
        offset = Int(frames.rounded(.down))
        remainder = frames - frames.rounded(.down)
        lagCount = Int((options.searchRange.upperBound - options.searchRange.lowerBound) * rate) + 2 * Self.margin + 1
        windowCount = max(16, Int(options.windowLength * rate))
    }

    /// Pre-emphasises the samples with nearly the first difference, which flattens the spectrum of speech.
    private static func emphasised(_ samples: [Float]) -> [Float] {
        var last: Float = 0
        return samples.map { sample in
            defer { last = sample }
            return sample - 0.95 * last
        }
    }

    /// Returns the windows with audible sent sound, and the confidence of the whole measurement.
    mutating func run() throws(DelayMeasurementError) -> (windows: [DelayMeasurement.Window], confidence: Double) {
        guard sent.count >= windowCount / 2 else { throw .tooShort }
        let starts = try audibleStarts()
        guard (heardEnergy.last ?? 0) > 1e-10 * Double(max(1, heard.count)) else { throw .heardIsSilent }
        let correlator = Correlator(window: windowCount, lags: lagCount)
        // Compute the correlations twice: those of an hour would not fit into memory.
        let bin = max(1, Int(Self.binSeconds * rate))
        var votes = [Double](repeating: 0, count: (lagCount + bin - 1) / bin)
        var overlaps = false
        for start in starts {
            guard let correlation = correlation(at: start, correlator) else { continue }
            overlaps = true
            var peaks = [Float](repeating: 0, count: votes.count)
            for lag in 0..<lagCount { peaks[lag / bin] = max(peaks[lag / bin], correlation[lag]) }
            for b in votes.indices {
                let peak = max(peaks[b], b > 0 ? peaks[b - 1] : 0, b + 1 < peaks.count ? peaks[b + 1] : 0)
                votes[b] += Double(peak * peak)
            }
        }
        guard overlaps, let best = votes.max(), best > 0 else { throw .noOverlap }
        // Adjacent bins may have equal votes; take the middle one.
        let winners = votes.indices.filter { votes[$0] >= best * 0.999 }
        let guide = winners[winners.count / 2]
        let far = max(3, Int(0.015 / Self.binSeconds))
        let second = votes.indices.filter { abs($0 - guide) > far }.map { votes[$0] }.max() ?? 0

        var windows: [DelayMeasurement.Window] = []
        for start in starts {
            guard let correlation = correlation(at: start, correlator) else {
                continue
            }
            windows.append(peak(correlation, near: guide * bin + bin / 2, start: start))
        }
        let mean = windows.reduce(0) { $0 + $1.confidence } / Double(windows.count)
        let distinct = min(1, max(0, 4 * (1 - second / best)))
        if mean >= 0.5, distinct < 0.2 { throw .ambiguous }
        guard mean * distinct >= options.minimumConfidence / 2 else { throw .noMatch }
        return (windows, mean * distinct)
    }

    /// Returns the starts of the windows that are at most 30 dB below the loudest.
    private func audibleStarts() throws(DelayMeasurementError) -> [Int] {
        let count = max(1, sent.count / windowCount)
        let energies = (0..<count).map { window in
            sent[window * windowCount..<min(sent.count, (window + 1) * windowCount)]
                .reduce(0) { $0 + Double($1) * Double($1) }
        }
        let loudest = energies.max() ?? 0
        guard loudest > 1e-10 * Double(windowCount) else { throw .sentIsSilent }
        return (0..<count).filter { energies[$0] > loudest * 1e-3 }.map { $0 * windowCount }
    }

    /// Returns the normalised correlation, −1 to 1, of the sent window at `start` with the heard sound for each lag; nil if the
    /// heard sound is silent.
    private func correlation(at start: Int, _ correlator: Correlator) -> [Float]? {
        let end = min(start + windowCount, sent.count)
        let window = sent[start..<end]
        let count = window.count
        let first = start + offset
        let energy = window.reduce(0) { $0 + Double($1) * Double($1) }
        // The energy of the heard sound within the window at each lag.
        let energies = heardEnergy.withUnsafeBufferPointer { sums in
            (0..<lagCount).map { lag in
                sums[min(max(0, first + lag + count), heard.count)] - sums[min(max(0, first + lag), heard.count)]
            }
        }
        let loudest = energies.max() ?? 0
        guard loudest > 1e-10 * Double(count) else { return nil }
        var result = correlator.correlate(window, heard, first)
        for lag in 0..<lagCount {
            result[lag] /= Float((energy * max(energies[lag], loudest * 1e-4)).squareRoot())
        }
        return result
    }

    /// Returns the highest peak within the allowed deviation; of two equal ones the nearer to the guide.
    private func peak(_ correlation: [Float], near guide: Int, start: Int) -> DelayMeasurement.Window {
        let reach = max(2, Int(options.windowDeviation * rate))
        var best = max(1, min(lagCount - 2, guide))
        var bestScore = -Float.infinity
        for lag in max(1, guide - reach)..<min(lagCount - 1, guide + reach + 1) {
            let score = correlation[lag] - 0.1 * Float(abs(lag - guide)) / Float(reach)
            if score > bestScore {
                bestScore = score
                best = lag
            }
        }
        let (left, top, right) = (
            Double(correlation[best - 1]), Double(correlation[best]), Double(correlation[best + 1])
        )
        let fraction = Correlator.peakOffset(left, top, right)
        let frames = Double(best - Self.margin) + fraction - remainder
        return DelayMeasurement.Window(
            start: Double(start) / rate,
            milliseconds: (options.searchRange.lowerBound + frames / rate) * 1000,
            confidence: max(0, min(1, top)))
    }
}
