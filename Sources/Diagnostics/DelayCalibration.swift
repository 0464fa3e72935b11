// SPDX-License-Identifier: Apache-2.0

/// The round trip of a device, output and input together, by several sweeps.
///
/// The delays of the output and of the input alone cannot be measured so. A recorded voice needs only their sum.
package struct DelayCalibration: Hashable, Sendable {
    /// The sweeps of a calibration, which take 9 s through the air.
    package static let sweepCount = 5

    /// The round trip in seconds, without the path from the output to the input.
    package let roundTrip: Double
    /// The seconds by which ``roundTrip`` may be wrong.
    package let uncertainty: Double
    /// The difference between the longest and the shortest of the agreeing round trips, in seconds.
    package let spread: Double

    /// The greatest difference from the median with which a sweep agrees, in seconds. A device repeats itself to the frame; in a
    /// room something may move by some centimetres.
    private static let (cableTolerance, airTolerance) = (0.1e-3, 0.5e-3)
    /// The seconds by which the first arrival may be off: the rise of a small loudspeaker.
    private static let arrivalUncertainty = 0.3e-3

    /// - Parameters:
    ///   - sweeps: the round trip of each sweep in seconds, by ``measure(_:through:)``.
    ///   - sampleRate: the device's rate in hertz.
    /// - Throws: the most frequent failure, unless four of five sweeps agree.
    package init(
        _ sweeps: [Result<Double, CalibrationError>], through path: LoopPath, sampleRate: Double
    ) throws(CalibrationError) {
        let isCable = path == .cable
        let neededCount = (4 * sweeps.count + 4) / 5
        let found = sweeps.compactMap { try? $0.get() }.sorted()
        guard !found.isEmpty, found.count >= neededCount else { throw Self.mostFrequentFailure(of: sweeps) }
        let median = found[found.count / 2]
        let agreeing = found.filter { abs($0 - median) <= (isCable ? Self.cableTolerance : Self.airTolerance) }
        guard agreeing.count >= neededCount else { throw .unstable(found[found.count - 1] - found[0]) }
        roundTrip = median - path.seconds
        spread = agreeing[agreeing.count - 1] - agreeing[0]
        uncertainty = spread / 2 + (isCable ? 1 / sampleRate : Self.arrivalUncertainty) + path.tolerance
    }

    private static func mostFrequentFailure(of sweeps: [Result<Double, CalibrationError>]) -> CalibrationError {
        var counts: [CalibrationError: Int] = [:]
        for case .failure(let error) in sweeps { counts[error, default: 0] += 1 }
        return counts.max { $0.value < $1.value }?.key ?? .lostFrames
    }

    /// Measures the round trip of one sweep in seconds, with the path. Takes some 50 ms. Safe on any thread except a render thread.
    package static func measure(_ capture: ProbeCapture, through path: LoopPath) -> Result<Double, CalibrationError> {
        do throws(RoundTripError) {
            guard path != .cable else { return .success(try RoundTrip(capture).seconds) }
            var best = Result<FirstArrival, CalibrationError>.failure(.silence)
            for samples in capture.captured {
                let found = FirstArrival.find(
                    in: try RoundTrip.checked(samples), probe: capture.probe, sampleRate: capture.sampleRate)
                best = better(best, found)
            }
            return best.map { $0.frames / capture.sampleRate }
        } catch { return .failure(CalibrationError(error)) }
    }

    private static func better(
        _ first: Result<FirstArrival, CalibrationError>, _ second: Result<FirstArrival, CalibrationError>
    ) -> Result<FirstArrival, CalibrationError> {
        switch (first, second) {
        case (.success(let a), .success(let b)): a.signalToNoise >= b.signalToNoise ? first : second
        case (.success, .failure): first
        case (.failure, _): second
        }
    }
}
