// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP
import Testing

@testable import EarshotLiveCall
@testable import earshot

/// The key that turns effects off and on, and the sentences about effects.
@Suite struct RoomEffectKeyTests {
    private static func snapshot(_ effects: CallEffectsDescription?) -> LiveCallSnapshot {
        var snapshot = LiveCallSnapshot(admission: .ask, sound: .waiting)
        snapshot.phase = .inRoom
        snapshot.effects = effects
        return snapshot
    }

    private static var effects: CallEffectsDescription {
        let units = [UnitType.reverb.description, UnitType.limiter.description]
        var values = units.map(\.defaultValues)
        values[0][units[0].index(of: "mix") ?? 0] = 40
        return CallEffectsDescription(units: units, values: values, latency: 0.001_7)
    }

    private static func press(_ keys: inout RoomKeyBindings, _ snapshot: LiveCallSnapshot) -> RoomKeyBindings.Action? {
        keys.take(.character("f"), snapshot, at: HostTime(nanoseconds: 0))
    }

    @Test func `f turns effects off, and on again with the values that were last seen`() {
        var keys = RoomKeyBindings()
        #expect(Self.press(&keys, Self.snapshot(nil)) == .say(EffectSentences.noneToRestore))
        #expect(Self.press(&keys, Self.snapshot(Self.effects)) == .perform(.setEffects([])))
        #expect(Self.press(&keys, Self.snapshot(nil)) == .perform(.setEffects(["reverb,mix=40", "limiter"])))
        // Another terminal set and removed effects.
        var others = Self.effects
        (others.units, others.values) = ([others.units[1]], [others.values[1]])
        keys.update(Self.snapshot(others), at: HostTime(nanoseconds: 0))
        #expect(Self.press(&keys, Self.snapshot(nil)) == .perform(.setEffects(["limiter"])))
        #expect(Self.press(&keys, LiveCallSnapshot(admission: .ask, sound: .none)) == nil)
    }

    @Test func `a sentence lists the effects with their settings and delay`() {
        let sentence = EffectSentences.list(EffectsDocument(Self.effects))
        #expect(sentence == "Effects: reverb,mix=40 limiter, delay 1.7 ms")
        #expect(EffectSentences.list(nil) == "Effects: none")
        let table = EffectSentences.table(EffectsDocument(Self.effects).units[0], hasColour: false)
        let rows = table.split(separator: "\n").map { $0.split(separator: " ").joined(separator: " ") }
        #expect(rows.first == "PARAMETER VALUE ALLOWED" && rows.contains("mix 40 % 0 to 100 %"), "\(table)")
    }

    @Test(arguments: [["set"], ["reverb", "mix"], ["reverb", "mix", "1", "2"], ["none", "reverb"]])
    func `other arguments are refused with an example`(words: [String]) {
        do {
            _ = try EarshotCommand.parseAsRoot(["call", "effects"] + words)
            Issue.record("\(words) are taken")
        } catch {
            #expect(EarshotCommand.message(for: error).contains("earshot call effects"), "\(error)")
        }
    }
}
