// SPDX-License-Identifier: Apache-2.0

/// The algorithm of ``DelayMeasurement``: it correlates each window of the sent sound with the heard sound, determines from all
/// windows the delay of most of them, the guide, and then finds each window's peak near the guide.
struct DelaySearch {
    private let options: DelayMeasurement.Options
    private let rate: Double  // the sample rate of `sent` and `heard`, in hertz
    private let sent: [Float]
    private let heard: [Float]
    private let heardEnergy: [Double]  // sums of squares of `heard` before each index
    /// The index in `heard` that corresponds to the first frame of `sent` at lag 0. Lag 0 is the minimum delay minus the margin.
    private let offset: Int
    /// The fraction of a frame by which `offset` was rounded down, 0 to 1.
    private let remainder: Double
    private let lagCount: Int
    private let windowLength: Int  // in frames
    private static let binSeconds = 0.0025
    // Lags searched before and after the range, so that a peak at its edge has neighbours.
    private static let margin = 4

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
        let leastSeconds = sent.firstFrameTime.seconds(since: heard.firstFrameTime) + options.searchRange.lowerBound
        let frames = max(-1e12, min(1e12, leastSeconds * rate)) - Double(Self.margin)
        offset = Int(frames.rounded(.down))
        remainder = frames - frames.rounded(.down)
        lagCount = Int((options.searchRange.upperBound - options.searchRange.lowerBound) * rate) + 2 * Self.margin + 1
        windowLength = max(16, Int(options.windowLength * rate))
    }

    /// Subtracts 0.95 times the previous sample from each sample (pre-emphasis), which flattens the spectrum of speech.
    private static func emphasised(_ samples: [Float]) -> [Float] {
        var last: Float = 0
        return samples.map { sample in
            defer { last = sample }
            return sample - 0.95 * last
        }
    }

    /// Returns the windows in which both sounds are audible, and the confidence of the whole measurement.
    mutating func run() throws(DelayMeasurementError) -> (windows: [DelayMeasurement.Window], confidence: Double) {
        guard sent.count >= windowLength / 2 else { throw .tooShort }
        let starts = try audibleStarts()
        guard (heardEnergy.last ?? 0) > 1e-10 * Double(max(1, heard.count)) else { throw .heardIsSilent }
        let correlator = Correlator(window: windowLength, lags: lagCount)
        // Compute the correlations twice: those of an hour would not fit into memory.
        let lagsPerBin = max(1, Int(Self.binSeconds * rate))
        var votes = [Double](repeating: 0, count: (lagCount + lagsPerBin - 1) / lagsPerBin)
        var overlaps = false
        for start in starts {
            guard let correlation = correlation(at: start, correlator) else { continue }
            overlaps = true
            var peaks = [Float](repeating: 0, count: votes.count)
            for lag in 0..<lagCount { peaks[lag / lagsPerBin] = max(peaks[lag / lagsPerBin], correlation[lag]) }
            for b in votes.indices {
                let peak = max(peaks[b], b > 0 ? peaks[b - 1] : 0, b + 1 < peaks.count ? peaks[b + 1] : 0)
                votes[b] += Double(peak * peak)
            }
        }
        guard overlaps, let bestVotes = votes.max(), bestVotes > 0 else { throw .noOverlap }
        // Adjacent bins may have equal votes; take the middle one.
        let winners = votes.indices.filter { votes[$0] >= bestVotes * 0.999 }
        let guideBin = winners[winners.count / 2]
        let excludedDistance = max(3, Int(0.015 / Self.binSeconds))
        let secondVotes = votes.indices.filter { abs($0 - guideBin) > excludedDistance }.map { votes[$0] }.max() ?? 0

        var windows: [DelayMeasurement.Window] = []
        for start in starts {
            guard let correlation = correlation(at: start, correlator) else {
                continue
            }
            windows.append(peak(correlation, near: guideBin * lagsPerBin + lagsPerBin / 2, start: start))
        }
        let mean = windows.reduce(0) { $0 + $1.confidence } / Double(windows.count)
        let distinct = min(1, max(0, 4 * (1 - secondVotes / bestVotes)))
        if mean >= 0.5, distinct < 0.2 { throw .ambiguous }
        guard mean * distinct >= options.minimumConfidence / 2 else { throw .noMatch }
        return (windows, mean * distinct)
    }

    /// Returns the indices in `sent` at which the windows at most 30 dB below the loudest begin.
    private func audibleStarts() throws(DelayMeasurementError) -> [Int] {
        let count = max(1, sent.count / windowLength)
        let energies = (0..<count).map { window in
            sent[window * windowLength..<min(sent.count, (window + 1) * windowLength)]
                .reduce(0) { $0 + Double($1) * Double($1) }
        }
        let loudest = energies.max() ?? 0
        guard loudest > 1e-10 * Double(windowLength) else { throw .sentIsSilent }
        return (0..<count).filter { energies[$0] > loudest * 1e-3 }.map { $0 * windowLength }
    }

    /// Returns the normalised correlation, −1 to 1, of the sent window at `start` with the heard sound for each lag; nil if the
    /// heard sound is silent.
    private func correlation(at start: Int, _ correlator: Correlator) -> [Float]? {
        let end = min(start + windowLength, sent.count)
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

    /// Returns the window at `start` with the delay of its best peak at most the allowed deviation from the lag `guide`. A peak
    /// counts less, by up to 0.1, the farther it is from the guide.
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
