// SPDX-License-Identifier: Apache-2.0

/// The mouth-to-ear delay between the sent and the heard sound, measured by correlation.
///
/// Delays are in milliseconds, from the time of a sample at the sender's converter to its time at the listener's converter, on
/// one clock. All statistics except ``confidence`` are over the windows with at least ``Options/minimumConfidence``.
public struct DelayMeasurement: Codable, Equatable, Sendable {
    /// The delay of one window of the sent sound.
    public struct Window: Codable, Equatable, Sendable {
        /// The beginning of the window in the sent sound, in seconds.
        public var start: Double
        /// The window's delay in milliseconds.
        public var milliseconds: Double
        /// The normalised correlation at the window's delay, 0 to 1. Clean speech through a codec reaches 0.8 and more.
        public var confidence: Double
    }

    /// The options of the search. The defaults suit a call.
    public struct Options: Sendable {
        /// The delays to search, in seconds.
        public var searchRange: ClosedRange<Double> = 0...2
        /// The length of a window in seconds.
        public var windowLength = 1.0
        /// The maximum deviation of a window's delay from the delay of most windows, in seconds.
        public var windowDeviation = 0.25
        /// The least confidence, 0 to 1, with which a window counts in the delays.
        public var minimumConfidence = 0.2

        /// Creates the default options.
        public init() {}
    }

    /// The delay of the whole sound, in milliseconds: the median of the windows, weighted by their confidence.
    public var milliseconds: Double
    /// The confidence of the measurement, 0 to 1: the mean over all ``windows``, reduced if another delay fits nearly as well.
    public var confidence: Double
    /// The median of the windows' delays, in milliseconds.
    public var p50: Double
    /// The 95th percentile of the windows' delays, in milliseconds.
    public var p95: Double
    /// The minimum of the windows' delays, in milliseconds.
    public var minimum: Double
    /// The maximum of the windows' delays, in milliseconds.
    public var maximum: Double
    /// The growth of the delay in milliseconds per minute (1 ppm is 0.06): the median slope between pairs of windows (Theil–Sen).
    /// 0 if there is only one window.
    public var driftMillisecondsPerMinute: Double
    /// All windows in which both sounds are audible, in order of time. A window's confidence is low if the heard sound is another
    /// one.
    public var windows: [Window]

    /// Measures the delay of the heard sound after the sent one.
    ///
    /// Both sounds are converted to 16 kHz, or to the lower of their sample rates if that is less, which drops frequencies that
    /// codecs do not keep. Pre-emphasis sharpens the peak. Each window of the sent sound is correlated by FFT with the part of
    /// the heard sound that can contain it. The delay of most windows, within a few milliseconds, then guides the search in each
    /// window, so that repeated music does not mislead it, and a drifting delay is followed. A parabola through the peak gives
    /// the fraction of a sample. Takes some tens of milliseconds per second of sound. Safe on any thread except a render thread.
    public init(sent: TimedSignal, heard: TimedSignal, options: Options = Options()) throws(DelayMeasurementError) {
        var search = DelaySearch(sent: sent, heard: heard, options: options)
        let found = try search.run()
        let good = found.windows.filter { $0.confidence >= options.minimumConfidence }
        guard !good.isEmpty, found.confidence > 0 else { throw .noMatch }
        let sorted = good.sorted { $0.milliseconds < $1.milliseconds }
        let half = sorted.reduce(0) { $0 + $1.confidence } / 2
        var weight = 0.0
        milliseconds =
            sorted.first { window in
                weight += window.confidence
                return weight >= half
            }?.milliseconds ?? sorted[0].milliseconds
        confidence = found.confidence
        p50 = Self.percentile(0.5, sorted)
        p95 = Self.percentile(0.95, sorted)
        minimum = sorted[0].milliseconds
        maximum = sorted[sorted.count - 1].milliseconds
        driftMillisecondsPerMinute = Self.drift(good)
        windows = found.windows
    }

    /// Returns the delay, in milliseconds, that `share` of the windows do not exceed. `sorted` is sorted by delay.
    private static func percentile(_ share: Double, _ sorted: [Window]) -> Double {
        sorted[max(0, Int((share * Double(sorted.count)).rounded(.up)) - 1)].milliseconds
    }

    private static func drift(_ windows: [Window]) -> Double {
        let stride = max(1, windows.count / 500)  // fewer than 1,000 windows are compared in pairs
        let picked = windows.indices.filter { $0 % stride == 0 }.map { windows[$0] }
        var slopes: [Double] = []
        for i in picked.indices {
            for j in picked.indices where j > i {
                slopes.append(
                    (picked[j].milliseconds - picked[i].milliseconds) / (picked[j].start - picked[i].start) * 60)
            }
        }
        slopes.sort()
        return slopes.isEmpty ? 0 : (slopes[slopes.count / 2] + slopes[(slopes.count - 1) / 2]) / 2
    }
}
