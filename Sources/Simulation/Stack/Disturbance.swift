// SPDX-License-Identifier: Apache-2.0

/// Trouble of members or the network. Members are counted from 0. Times are in seconds.
package enum Disturbance: Hashable, Sendable {
    /// The member's user leaves the room, and joins again after this number of seconds.
    case leave(Int, for: Double)
    /// The member's process ends without leaving the room. Another one with the same identity starts after this number of
    /// seconds.
    case crash(Int, for: Double)
    /// The member's machine vanishes without notice, and returns after this number of seconds.
    case powerLoss(Int, for: Double)
    /// The member's machine gets another address, after `gap` seconds without one.
    case move(Int, gap: Double)
    /// These two members cannot reach each other for this number of seconds.
    case cut(Int, Int, for: Double)
    /// This member cannot reach any other for this number of seconds.
    case isolate(Int, for: Double)
    /// Datagrams between these two members are lost for this number of seconds; TCP connections work.
    case blockDatagrams(Int, Int, for: Double)
    /// All datagrams suffer loss, delay, duplication and reordering for this number of seconds.
    case weather(loss: Double, delay: Double, duplication: Double, reordering: Double, for: Double)
    /// The member changes its name, or is muted or unmuted.
    case update(Int)
    /// The first of these members offers its media to the second one again.
    case renegotiate(Int, Int)
    /// The user at the host leaves the room to a successor, and joins again after this number of seconds.
    case hostLeaves(for: Double)
    /// The host's process ends without leaving the room. Another one with the same identity starts after this number of seconds.
    case hostCrashes(for: Double)

    /// The seconds until the disturbance ends by itself.
    package var duration: Double {
        switch self {
        case .leave(_, let seconds), .crash(_, let seconds), .powerLoss(_, let seconds), .move(_, let seconds),
            .cut(_, _, let seconds), .isolate(_, let seconds), .blockDatagrams(_, _, let seconds),
            .weather(_, _, _, _, let seconds), .hostLeaves(let seconds), .hostCrashes(let seconds):
            seconds
        case .update, .renegotiate: 0
        }
    }
}
