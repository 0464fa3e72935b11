// SPDX-License-Identifier: Apache-2.0

/// The way in which the singers of an attempt hear the song.
package enum DuetMode<Member: Hashable & Sendable>: Hashable, Sendable {
    /// All hear the song at one instant. Each hears the others late by their delay.
    case together
    /// The others hear the song as late as the leader's voice, which is in time for them. The leader hears them late by twice the
    /// delay.
    case led(by: Member)
    /// The singers take turns. Each turn is an attempt, and this member sings now, with the song and the earlier voices. The others
    /// listen, are not in the mix, and hear the song as late as the singer's voice.
    case inTurn(Member)

    /// The seconds from one singer's mouth to another's ear up to which people sing together well (C. Chafe et al., "Effect of
    /// temporal separation on synchronization in rhythmic performance", 2010).
    package static var togetherLimit: Double { 0.025 }

    /// The seconds from mouth to ear up to which the others can sing after a leader, who hears them late by twice as much.
    package static var leadLimit: Double { 0.15 }

    /// The singer whose voice the song of the others follows; nil if all sing together.
    package var leader: Member? {
        switch self {
        case .together: nil
        case .led(let member), .inTurn(let member): member
        }
    }
}
