// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioCodecs
import EarshotMediaTransport

/// Adapts the bit rates to and from one remote peer to its link.
struct RateControl {
    let ladder: [RateRung]
    var policy: RatePolicy
    /// The remote peer's own encoder, used once the link to it was too slow or its format has changed; nil if nothing is sent, or
    /// if neither is possible.
    var encoder: RateEncoder?
    var meter = CongestionDetector()
    /// The rate request to send to the remote peer; nil for none.
    var request: RateRequest?
    var repetition = RateRequestRepetition()
    var requestsSent = 0
    /// The time of the last evaluated plain report, in seconds.
    var reportedAt = -Double.infinity
    /// The bytes of the datagram being received, with the headers of IPv4 and UDP; 0 once measured.
    var arrivingBytes = 0

    /// The requested share of the received rate: the remainder lets the queue drain.
    static let share = 0.9
    /// The bytes of the headers of IPv4 and UDP.
    static let datagramHeaders = 28

    init(_ configuration: CallConfiguration, sends: Bool) throws(CodecError) {
        ladder = configuration.ladder
        policy = RatePolicy(rungs: ladder.map(\.wireBitRate))
        encoder = sends && configuration.alternativeCodec != nil ? try RateEncoder(configuration) : nil
    }

    var rung: RateRung { ladder[policy.rung] }

    /// Returns true if payloads come from ``encoder`` and not from the shared one.
    var usesOwnEncoder: Bool { encoder.map { $0.isActive || $0.continuesSound || policy.rung > 0 } ?? false }

    var state: RateState {
        var state = RateState(ladder[policy.settled])
        state.index = policy.settled
        state.linkBitRate = policy.isMeasured ? policy.limit.map { $0 / Self.share } : nil
        state.isTooSlow = policy.isTooSlow
        state.stepsDown = policy.stepsDown
        state.stepsUp = policy.stepsUp
        state.requestsSent = requestsSent
        return state
    }
}

extension HostTime {
    /// The host time in seconds.
    var inSeconds: Double { Double(nanoseconds) / 1e9 }
}
