// SPDX-License-Identifier: Apache-2.0

/// The combined result of successive probes of one loop.
public struct RoundTripMeasurement: Codable, Hashable, Sendable {
    /// The median of the successful round trips, in seconds.
    public var seconds: Double
    /// The difference between the longest and the shortest round trip, in seconds. If it exceeds a few microseconds, the device's
    /// latency is not stable.
    public var spread: Double
    /// The median of the loop's gain over the successful measurements, in dB.
    public var levelDecibels: Double
    /// True if the loop inverts the polarity, by most successful measurements.
    public var isInverted: Bool
    /// The least confidence of the successful measurements, 0 to 1.
    public var confidence: Double
    /// The successful measurements.
    public var roundTrips: [RoundTrip]
    /// The number of probes that failed.
    public var failedProbeCount: Int

    /// - Parameter probes: at least one.
    /// - Throws: the most frequent failure, unless more than half of the probes found a loop.
    public init(_ probes: [Result<RoundTrip, RoundTripError>]) throws(RoundTripError) {
        var found: [RoundTrip] = []
        var errors: [RoundTripError: Int] = [:]
        for probe in probes {
            switch probe {
            case .success(let roundTrip): found.append(roundTrip)
            case .failure(let error): errors[error, default: 0] += 1
            }
        }
        guard 2 * found.count > probes.count else {
            throw errors.max { ($0.value, $0.key.weight) < ($1.value, $1.key.weight) }?.key ?? .tooShort
        }
        let times = found.map(\.seconds).sorted()
        seconds = Self.median(times)
        spread = times[times.count - 1] - times[0]
        levelDecibels = Self.median(found.map(\.levelDecibels).sorted())
        isInverted = 2 * found.count { $0.isInverted } > found.count
        confidence = found.map(\.confidence).min() ?? 0
        roundTrips = found
        failedProbeCount = probes.count - found.count
    }

    private static func median(_ sorted: [Double]) -> Double {
        (sorted[sorted.count / 2] + sorted[(sorted.count - 1) / 2]) / 2
    }
}
