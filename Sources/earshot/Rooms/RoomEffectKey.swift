// SPDX-License-Identifier: Apache-2.0

import EarshotLiveCall

/// The key that turns the effects of the local voice off, and on again as they were.
struct RoomEffectKey {
    /// The texts of the last effects; empty before the first.
    private var texts: [String] = []

    /// Notes the present effects.
    mutating func note(_ effects: CallEffectsDescription?) { if let effects { texts = effects.texts } }

    /// Returns the action of the key; nil without sound.
    func action(_ snapshot: LiveCallSnapshot) -> RoomKeyBindings.Action? {
        guard snapshot.sound != .none else { return nil }
        if snapshot.effects != nil { return .perform(.setEffects([])) }
        return texts.isEmpty ? .say(EffectSentences.noneToRestore) : .perform(.setEffects(texts))
    }
}
