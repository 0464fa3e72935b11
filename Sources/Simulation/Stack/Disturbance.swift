// SPDX-License-Identifier: Apache-2.0

/// Trouble that befalls members or the network. Members are counted from 0. Times are in seconds.
package enum Disturbance: Hashable, Sendable {
    /// The user leaves and joins again after a while.
    case leave(Int, for: Double)
    /// The process ends at once, and another with the same identity begins after a while.
    case crash(Int, for: Double)
    /// The machine vanishes without a word and returns after a while.
    case powerLoss(Int, for: Double)
    /// The machine gets another address after a time without any.
    case move(Int, gap: Double)
    /// Two members do not reach each other.
    case cut(Int, Int, for: Double)
    /// A member reaches no other.
    case isolate(Int, for: Double)
    /// Datagrams between two members are lost, connections are not.
    case blockDatagrams(Int, Int, for: Double)
    /// All datagrams meet loss, delay, duplication and reordering.
    case weather(loss: Double, delay: Double, duplication: Double, reordering: Double, for: Double)
    /// The user renames itself, or changes whether it is muted.
    case update(Int)
    /// A member offers its media to another anew.
    case renegotiate(Int, Int)
    /// The members that host leave the room to the next.
    case hostLeaves(for: Double)
    /// The host's process ends at once.
    case hostCrashes(for: Double)

    /// Seconds until it ends by itself.
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
