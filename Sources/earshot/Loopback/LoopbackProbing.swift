// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotDiagnostics

/// Measures a loop several times in a row, by ``step(_:now:)``.
struct LoopbackProbing<Finding, Failure: Error> {
    /// The seconds before the first probe, in which a server makes its links and reports its latencies.
    private static var settling: Double { 0.7 }
    /// The seconds after the end of a probe within which its result must arrive.
    private static var timeout: Double { 2 }
    /// The number of interrupted probes that may still be repeated.
    private var remainingRetries = 5

    private let count: Int
    private let measure: (ProbeCapture) -> Result<Finding, Failure>
    private let interrupted: Failure
    private let firstProbeTime: HostTime
    private var probeStart: HostTime?
    /// The results of the probes that have ended.
    private(set) var results: [Result<Finding, Failure>] = []

    /// - Parameters:
    ///   - interrupted: the failure of a probe that was interrupted each time.
    ///   - measure: measures one probe.
    init(
        count: Int, now: HostTime, interrupted: Failure, _ measure: @escaping (ProbeCapture) -> Result<Finding, Failure>
    ) {
        self.count = count
        self.interrupted = interrupted
        self.measure = measure
        firstProbeTime = now.advanced(bySeconds: Self.settling)
    }

    /// True once the last probe has ended.
    var isComplete: Bool { results.count >= count }

    /// Starts a probe, or reads the result of the running probe.
    /// - Returns: the result of a probe that has just ended; nil if none has, or if the probe will be repeated.
    mutating func step(_ loopback: Loopback, now: HostTime) -> Result<Finding, Failure>? {
        guard now >= firstProbeTime, !isComplete else { return nil }
        guard let probeStart else {
            loopback.startProbe()
            probeStart = now
            return nil
        }
        var result = Result<Finding, Failure>.failure(interrupted)
        var isInterrupted = false
        do throws(RoundTripError) {
            if let capture = try loopback.takeProbe() {
                result = measure(capture)
            } else if now.seconds(since: probeStart) <= loopback.probeDuration + Self.timeout {
                return nil
            } else {
                isInterrupted = true
            }
        } catch { isInterrupted = true }
        self.probeStart = nil
        if isInterrupted, remainingRetries > 0 {
            remainingRetries -= 1
            return nil
        }
        results.append(result)
        return result
    }
}

extension LoopbackProbing where Finding == RoundTrip, Failure == RoundTripError {
    init(roundTrips count: Int, now: HostTime) {
        self.init(count: count, now: now, interrupted: .interrupted) { capture in
            Result { () throws(RoundTripError) in try RoundTrip(capture) }
        }
    }

    /// The result of all probes; nil until the last one has ended.
    var measurement: Result<RoundTripMeasurement, RoundTripError>? {
        guard isComplete else { return nil }
        return Result { () throws(RoundTripError) in try RoundTripMeasurement(results) }
    }
}
