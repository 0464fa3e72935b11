// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotDiagnostics

/// Measures a loop several times in a row, by ``step(_:now:)``.
struct LoopbackProbing {
    /// The seconds before the first probe, in which a server makes its links and reports its latencies.
    private static let settling = 0.7
    /// The seconds beyond a probe's length after which it has failed.
    private static let patience = 2.0
    /// The remaining repetitions for probes that lost frames.
    private var retries = 5

    private let count: Int
    private let begin: HostTime
    private var started: HostTime?
    private var results: [Result<RoundTrip, RoundTripError>] = []

    init(count: Int, now: HostTime) {
        self.count = count
        begin = now.advanced(bySeconds: Self.settling)
    }

    /// The measurement, once there are enough probes.
    var measurement: Result<RoundTripMeasurement, RoundTripError>? {
        guard results.count >= count else { return nil }
        return Result { () throws(RoundTripError) in try RoundTripMeasurement(results) }
    }

    /// Reads the result of a probe and starts the next.
    /// - Returns: the new result; nil if there is none.
    mutating func step(_ loopback: Loopback, now: HostTime) -> Result<RoundTrip, RoundTripError>? {
        guard now >= begin, results.count < count else { return nil }
        guard let started else {
            loopback.startProbe()
            started = now
            return nil
        }
        let result: Result<RoundTrip, RoundTripError>
        do throws(RoundTripError) {
            if let capture = try loopback.takeProbe() {
                result = .success(try RoundTrip(capture))
            } else if now.seconds(since: started) > loopback.probeDuration + Self.patience {
                throw .interrupted
            } else {
                return nil
            }
        } catch {
            result = .failure(error)
        }
        self.started = nil
        if case .failure(.interrupted) = result, retries > 0 {
            retries -= 1
            return nil
        }
        results.append(result)
        return result
    }
}
