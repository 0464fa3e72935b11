// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// A peer's clock relative to ours: an estimate at an instant, with its uncertainty.
package struct PeerClock: Hashable, Sendable, BitwiseCopyable {
    /// The instant to which the estimate belongs, on our clock.
    package let localReference: HostTime
    /// The same instant on the peer's clock.
    package let peerReference: HostTime
    /// The peer's seconds per second of ours, less 1. +10e-6 is a peer 10 ppm fast.
    package let rate: Double
    /// The seconds within which the rate's error times a second lies, in 95 % of cases.
    package let rateError: Double
    let error: Double  // seconds, at the reference
    let roundTripError: Double  // seconds, at the reference

    /// The seconds per second by which a crystal's rate may change in a second (temperature).
    private static let wander = 0.01e-6

    init(
        localReference: HostTime, peerReference: HostTime, rate: Double, rateError: Double, error: Double,
        roundTripError: Double
    ) {
        self.localReference = localReference
        self.peerReference = peerReference
        self.rate = rate
        self.rateError = rateError
        self.error = error
        self.roundTripError = roundTripError
    }

    /// Returns the peer's time at a time on our clock.
    package func peerTime(at local: HostTime) -> HostTime { line.time(at: local) }

    /// Returns our time at a time on the peer's clock.
    package func localTime(at peer: HostTime) -> HostTime { line.inverse(at: peer) }

    /// The line from our clock to the peer's.
    private var line: ClockLine { ClockLine(from: localReference, to: peerReference, rate: rate) }

    /// Returns the seconds within which the error lies in 95 % of cases, if the least delays of both directions are alike.
    ///
    /// After a change of one direction's path it suffices that they were alike before. It grows with the distance from the
    /// reference.
    /// - Parameter local: a time on our clock.
    package func symmetricUncertainty(at local: HostTime) -> Double { error + growth(until: local) }

    /// Returns the seconds within which the error lies whatever the path: half the least round trip, and the growth since.
    ///
    /// One cannot learn more from packet times if the path's asymmetry is unknown (F. Cristian, "Probabilistic clock
    /// synchronization", 1989).
    /// - Parameter local: a time on our clock.
    package func uncertainty(at local: HostTime) -> Double { roundTripError + growth(until: local) }

    private func growth(until local: HostTime) -> Double {
        let age = abs(local.seconds(since: localReference))
        return age * (rateError + Self.wander * age)
    }
}
