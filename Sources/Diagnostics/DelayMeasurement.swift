// SPDX-License-Identifier: Apache-2.0

/// The mouth-to-ear delay between the sent and the heard sound, measured by correlation.
///
/// Delays are in milliseconds, from the time of a sample at the sender's converter to its time at the listener's converter, on
/// one clock. Percentiles are over the windows with sufficient confidence.
public struct DelayMeasurement: Codable, Equatable, Sendable {
    /// The delay of one window of the sent sound.
    public struct Window: Codable, Equatable, Sendable {
        /// The beginning of the window in the sent sound, in seconds.
        public var start: Double
        /// The window's delay in milliseconds.
        public var milliseconds: Double
        /// The normalised correlation at that delay, 0 to 1. Clean speech through a codec reaches 0.8 and more.
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
        /// Windows with less confidence count as not heard.
        public var minimumConfidence = 0.2

        /// Creates the default options.
        public init() {}
    }

    /// The delay of the whole file: the median of the windows, weighted by their confidence.
    public var milliseconds: Double
    /// 0 to 1: the mean of the windows' confidences, reduced if a second delay fits nearly as well.
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
    /// The windows in which both sounds are audible, in order. If the heard sound is another one, the confidence is low.
    public var windows: [Window]

    /// Compares two sounds.
    ///
    /// Both are converted to 16 kHz or the lower of their sample rates and pre-emphasised, which sharpens the peak and drops
    /// frequencies that codecs do not keep. Each window of the sent sound is correlated by FFT with the part of the heard sound
    /// that can contain it. The delay of most windows, within a few milliseconds, then guides the search in each window, so that
    /// repeated music does not mislead it, and a drifting delay is followed. A parabola through the peak gives the fraction of a
    /// sample. Takes some tens of milliseconds per second of sound. Safe on any thread except a render thread.
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

    /// Returns the smallest value that is not less than this share of all values.
    private static func percentile(_ share: Double, _ sorted: [Window]) -> Double {
        sorted[max(0, Int((share * Double(sorted.count)).rounded(.up)) - 1)].milliseconds
    }

    private static func drift(_ windows: [Window]) -> Double {
        let stride = max(1, windows.count / 500)  // a pair for each two of at most 1000 windows
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
