// SPDX-License-Identifier: Apache-2.0

/// Trouble of members or the network. Members are counted from 0. Times are in seconds.
package enum Disturbance: Hashable, Sendable {
    /// The user leaves and joins again after a while.
    case leave(Int, for: Double)
    /// The process ends at once; another one with the same identity starts after a while.
    case crash(Int, for: Double)
    /// The machine vanishes without notice and returns after a while.
    case powerLoss(Int, for: Double)
    /// The machine gets another address after a time without one.
    case move(Int, gap: Double)
    /// Two members cannot reach each other.
    case cut(Int, Int, for: Double)
    /// A member cannot reach any other.
    case isolate(Int, for: Double)
    /// Datagrams between two members are lost; connections work.
    case blockDatagrams(Int, Int, for: Double)
    /// All datagrams suffer loss, delay, duplication and reordering.
    case weather(loss: Double, delay: Double, duplication: Double, reordering: Double, for: Double)
    /// The user changes its name or is muted or unmuted.
    case update(Int)
    /// A member offers its media to another again.
    case renegotiate(Int, Int)
    /// The host leaves the room to its successor.
    case hostLeaves(for: Double)
    /// The host's process ends without leaving the room; another one with the same identity starts after a while.
    case hostCrashes(for: Double)

    /// The seconds until it ends by itself.
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
