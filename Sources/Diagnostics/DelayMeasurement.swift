// SPDX-License-Identifier: Apache-2.0

/// The mouth-to-ear delay between what was said and what was heard, found by correlating one with the other.
///
/// Delays are in milliseconds, from the instant a sample was at the sender's converter to the instant it was at the
/// listener's, on one clock. Percentiles are over the windows whose confidence is enough.
public struct DelayMeasurement: Codable, Equatable, Sendable {
    /// The delay of one piece of what was said.
    public struct Window: Codable, Equatable, Sendable {
        /// The beginning of the window in the sent sound, in seconds.
        public var start: Double
        /// Its delay.
        public var milliseconds: Double
        /// 0 to 1: the normalised correlation at that delay. Clean speech through a codec gives 0.8 and more.
        public var confidence: Double
    }

    /// The options of the search. The defaults suit a call.
    public struct Options: Sendable {
        /// Delays looked at, in seconds.
        public var searchRange: ClosedRange<Double> = 0...2
        /// Seconds in a window.
        public var windowLength = 1.0
        /// The greatest deviation of a window's delay, in seconds, from the one that most windows agree on.
        public var windowDeviation = 0.25
        /// A window with less counts as not heard.
        public var minimumConfidence = 0.2

        /// The defaults.
        public init() {}
    }

    /// The whole file's delay: the median of its windows, each weighted by its confidence.
    public var milliseconds: Double
    /// 0 to 1: the mean of the windows' confidences, less if a second delay fits nearly as well.
    public var confidence: Double
    /// Half the windows have at most this delay.
    public var p50: Double
    /// 95 % of the windows have at most this delay.
    public var p95: Double
    /// The least delay of a window.
    public var minimum: Double
    /// The greatest delay of a window.
    public var maximum: Double
    /// The growth of the delay, in milliseconds a minute (1 ppm is 0.06): the median slope between pairs of windows (Theil–Sen). 0
    /// if there is only one window.
    public var driftMillisecondsPerMinute: Double
    /// Every window in which something was said and anything was heard, in order; where it was something else, with
    /// little confidence.
    public var windows: [Window]

    /// Compares two sounds.
    ///
    /// Both are brought to 16 kHz or the lower of their rates and pre-emphasised, which sharpens the peak and leaves out
    /// what codecs do not keep. Each window of the sent sound is correlated, by FFT, with all it could have become;
    /// the delay on which most windows agree, within a few milliseconds, guides the search in each, so that music that
    /// repeats does not mislead, and a delay that drifts is followed. A parabola through the peak gives the fraction.
    /// Takes some tens of milliseconds a second of sound; any thread but a render thread.
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

    /// The least value that is not below `share` of all.
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
