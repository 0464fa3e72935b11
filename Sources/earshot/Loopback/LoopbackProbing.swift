// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotDiagnostics

/// Measures a loop several times in a row, by ``step(_:now:)``.
struct LoopbackProbing {
    /// The seconds before the first probe, in which a server makes its links and reports its latencies.
    private static let settling = 0.7
    /// The seconds after the end of a probe within which its result must arrive.
    private static let timeout = 2.0
    /// The number of interrupted probes that may still be repeated.
    private var remainingRetries = 5

    private let count: Int
    private let firstProbeTime: HostTime
    private var probeStart: HostTime?
    private var results: [Result<RoundTrip, RoundTripError>] = []

    init(count: Int, now: HostTime) {
        self.count = count
        firstProbeTime = now.advanced(bySeconds: Self.settling)
    }

    /// The result of all probes; nil until the last one has ended.
    var measurement: Result<RoundTripMeasurement, RoundTripError>? {
        guard results.count >= count else { return nil }
        return Result { () throws(RoundTripError) in try RoundTripMeasurement(results) }
    }

    /// Starts a probe, or reads the result of the running probe.
    /// - Returns: the result of a probe that has just ended; nil if none has, or if the probe will be repeated.
    mutating func step(_ loopback: Loopback, now: HostTime) -> Result<RoundTrip, RoundTripError>? {
        guard now >= firstProbeTime, results.count < count else { return nil }
        guard let probeStart else {
            loopback.startProbe()
            probeStart = now
            return nil
        }
        let result: Result<RoundTrip, RoundTripError>
        do throws(RoundTripError) {
            if let capture = try loopback.takeProbe() {
                result = .success(try RoundTrip(capture))
            } else if now.seconds(since: probeStart) > loopback.probeDuration + Self.timeout {
                throw .interrupted
            } else {
                return nil
            }
        } catch {
            result = .failure(error)
        }
        self.probeStart = nil
        if case .failure(.interrupted) = result, remainingRetries > 0 {
            remainingRetries -= 1
            return nil
        }
        results.append(result)
        return result
    }
}
