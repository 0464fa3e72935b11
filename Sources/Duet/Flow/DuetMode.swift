// SPDX-License-Identifier: Apache-2.0

/// The way in which the singers of an attempt hear the song.
package enum DuetMode<Member: Hashable & Sendable>: Hashable, Sendable {
    /// All hear the song at one instant. Each hears the others late by their delay.
    case together
    /// The others hear the song as late as the leader's voice, which is in time for them. The leader hears them late by twice the
    /// delay.
    case led(by: Member)

    /// The seconds from one singer's mouth to another's ear up to which people sing together well (C. Chafe et al., "Effect of
    /// temporal separation on synchronization in rhythmic performance", 2010).
    package static var togetherLimit: Double { 0.025 }

    /// The leader; nil if all sing together.
    package var leader: Member? {
        switch self {
        case .together: nil
        case .led(let member): member
        }
    }
}
