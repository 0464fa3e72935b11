// SPDX-License-Identifier: Apache-2.0

import EarshotLiveCall
import EarshotRooms

/// Converts keys to changes of volumes: of the selected participant, or of the whole playback if none is selected.
struct RoomVolumeKeys {
    /// The decibels of a step, as in `earshot play`.
    private static let step = 2.0
    /// The range of the keys in decibels, as of the other commands.
    private static let range = -60.0...18.0

    /// The selected participant; nil for the whole playback.
    private(set) var selection: MemberID?

    /// Handles a key. Returns nil for a key that is not about volumes, before the user is in a room, and in one without sound.
    mutating func take(_ key: Key, _ snapshot: LiveCallSnapshot) -> RoomKeyBindings.Action? {
        guard snapshot.isInRoom, snapshot.sound != .none else { return nil }
        switch key {
        case .down: return select(next: true, snapshot)
        case .up: return select(next: false, snapshot)
        case .escape: return selection == nil ? nil : select(nil)
        case .character("+"), .character("="): return changeVolume(by: Self.step, snapshot)
        case .character("-"), .character("_"): return changeVolume(by: -Self.step, snapshot)
        case .character("v"), .character("V"):
            // A key without a selection lets the user hear the only one who is not heard.
            let unheard = snapshot.participants.filter { !$0.isHeard }
            if selection == nil, unheard.count == 1 { return .perform(.setHeard(true, of: unheard[0].id)) }
            guard let selection else {
                return .say(snapshot.participants.isEmpty ? "Nobody else is in the room." : VolumeSentences.unselected)
            }
            guard let participant = snapshot[selection] else { return loseSelection() }
            return .perform(.setHeard(!participant.isHeard, of: selection))
        default: return nil
        }
    }

    /// Selects the next or the previous participant. The whole playback is before the first and after the last one.
    private mutating func select(next: Bool, _ snapshot: LiveCallSnapshot) -> RoomKeyBindings.Action {
        let choices: [MemberID?] = [nil] + snapshot.participants.map { Optional($0.id) }
        let index = choices.firstIndex(of: selection) ?? 0
        return select(choices[(index + (next ? 1 : choices.count - 1)) % choices.count])
    }

    private mutating func select(_ id: MemberID?) -> RoomKeyBindings.Action {
        selection = id
        return .select(id)
    }

    /// Ends the selection of a participant who has left, so that a key does not change the whole playback by mistake.
    private mutating func loseSelection() -> RoomKeyBindings.Action {
        selection = nil
        return .say(VolumeSentences.selectionLost)
    }

    private mutating func changeVolume(by decibels: Double, _ snapshot: LiveCallSnapshot) -> RoomKeyBindings.Action {
        guard let selection else {
            return .perform(.setOutputVolume(Self.volume(snapshot.outputVolume, changedBy: decibels)))
        }
        guard let participant = snapshot[selection] else { return loseSelection() }
        guard participant.isHeard else { return .say(VolumeSentences.heard(participant)) }
        return .perform(.setVolume(Self.volume(participant.volume, changedBy: decibels), of: selection))
    }

    /// Returns the volume that is a number of decibels louder, on whole steps within the range. 0 dB is exactly 1.
    static func volume(_ factor: Float, changedBy decibels: Double) -> Float {
        let steps = (max(range.lowerBound, VolumeSentences.decibels(factor)) / step).rounded()
        return VolumeSentences.factor(min(range.upperBound, max(range.lowerBound, steps * step + decibels)))
    }
}
