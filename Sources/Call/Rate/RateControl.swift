// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioCodecs
import EarshotMediaTransport

/// Makes the bit rate of one remote peer follow its link, both ways: the sent rate, and the requested one.
struct RateControl {
    let ladder: [RateRung]
    var policy: RatePolicy
    /// Makes its payloads once its link was too slow; nil if there is only one rung.
    let encoder: RateEncoder?
    var meter = CongestionDetector()
    /// The request to send.
    var request: RateRequest?
    var requestsSent = 0
    /// The time of the last evaluated plain report, in seconds.
    var reportedAt = -Double.infinity
    /// Bytes of the datagram that is being received.
    var arrivingBytes = 0

    /// The requested share of the rate that was received: the remainder lets the queue drain.
    static let share = 0.9
    /// Bytes of IPv4's and UDP's headers.
    static let datagramHeaders = 28

    init(_ configuration: CallConfiguration, sends: Bool) throws(CodecError) {
        ladder = configuration.ladder
        policy = RatePolicy(rungs: ladder.map(\.wireBitRate))
        encoder = sends && ladder.count > 1 ? try RateEncoder(configuration) : nil
    }

    var rung: RateRung { ladder[policy.rung] }

    /// Returns true if payloads come from ``encoder`` and not from the one that others share.
    var isOnItsOwn: Bool { encoder.map { $0.isActive || policy.rung > 0 } ?? false }

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
    /// Seconds of the host's clock.
    var inSeconds: Double { Double(nanoseconds) / 1e9 }
}
