// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioEngine
import EarshotAudioSession
import EarshotCall
import TestSupport
import Testing

@testable import EarshotLiveCall

/// Effects of the local voice that change during a call.
@Suite struct LiveCallEffectsTests {
    private static let format = AudioFormat(sampleRate: 48_000, channelCount: 1)

    private static func rig() -> CoreRig {
        var rig = CoreRig()
        rig.joinAsGuest()
        rig.startSound()
        return rig
    }

    /// Returns the effects of the events so far, as texts.
    private static func events(_ rig: CoreRig) -> [[String]] {
        rig.events.compactMap { if case .effects(let effects) = $0.kind { effects?.texts ?? [] } else { nil } }
    }

    private static func set(_ texts: [String], _ rig: inout CoreRig) throws {
        try rig.perform(.setEffects(texts), effects: texts.isEmpty ? nil : try PreparedEffects(texts, format: format))
    }

    @Test func `effects are set, replaced and removed, each with one event`() throws {
        var rig = Self.rig()
        try Self.set(["reverb:large-hall,mix=20", "limiter"], &rig)
        let effects = try #require(rig.snapshot.effects)
        #expect(effects.names == ["Reverb", "Limiter"] && effects.latency > 0.001)
        #expect(effects.values.map(\.count) == effects.units.map(\.parameters.count))
        try Self.set(["gain,gain=-6"], &rig)
        #expect(rig.snapshot.effects?.texts == ["gain,gain=-6"] && rig.snapshot.effects?.latency == 0)
        try Self.set([], &rig)
        try Self.set([], &rig)
        #expect(rig.snapshot.effects == nil)
        #expect(Self.events(rig).map(\.count) == [2, 1, 0])
        #expect(rig.actions.media.suffix(2) == ["effects gain,gain=-6", "effects none"])
    }

    @Test func `a parameter changes by the effect's name or number, and once for each new value`() throws {
        var rig = Self.rig()
        try Self.set(["gain", "equalizer", "voice-changer", "gain"], &rig)
        try rig.perform(.setEffectParameter("gain", of: "GAIN", to: "-6 dB"))
        try rig.perform(.setEffectParameter("gain", of: "4", to: "3"))
        try rig.perform(.setEffectParameter("gain", of: "4", to: "3"))
        try rig.perform(.setEffectParameter("band2.type", of: "equalizer", to: "notch"))
        try rig.perform(.setEffectParameter("robot", of: "voiceChanger", to: "on"))
        #expect(
            rig.snapshot.effects?.texts == [
                "gain,gain=-6", "equalizer,band2.type=notch", "voice-changer,robot=on", "gain,gain=3",
            ])
        #expect(Self.events(rig).count == 5)
        #expect(rig.actions.media.dropFirst(2).first == "parameter 0 of effect 0: -6.0")
    }

    @Test func `a wrong effect, parameter or value is refused with its name, and changes nothing`() throws {
        var rig = Self.rig()
        #expect(
            rig.refusal(of: .setEffectParameter("mix", of: "reverb", to: "1")) == .effect(.noUnit("reverb", near: [])))
        try Self.set(["reverb"], &rig)
        let before = (rig.snapshot, rig.actions.count)
        for effect in ["2", "0", "-1", "", "delay", "reverb,mix=1"] {
            guard case .effect(.noUnit(effect, _))? = rig.refusal(of: .setEffectParameter("mix", of: effect, to: "1"))
            else {
                Issue.record("\(effect) was not refused")
                continue
            }
        }
        #expect(
            rig.refusal(of: .setEffectParameter("mixx", of: "1", to: "1"))
                == .effect(.noParameter(unit: "Reverb", name: "mixx", near: ["mix"])))
        let mix = try #require(rig.snapshot.effects?.units[0].parameters.first { $0.identifier == "mix" })
        for value in ["101", "-0.1", "nan", "loud", "", "1e99"] {
            #expect(
                rig.refusal(of: .setEffectParameter("mix", of: "1", to: value))
                    == .effect(.wrongSetting(unit: "Reverb", parameter: mix, text: value)))
        }
        #expect(rig.snapshot == before.0 && rig.actions.count == before.1)
    }

    @Test func `effects and values set by hand outlast a change of the device, of the host, and an interruption`()
        throws
    {
        var rig = Self.rig()
        try Self.set(["reverb"], &rig)
        try rig.perform(.setEffectParameter("mix", of: "reverb", to: "60"))
        let effects = rig.snapshot.effects
        func actions() -> [String] { rig.actions.media.filter { $0.hasPrefix("effects") || $0.hasPrefix("parameter") } }
        let before = actions()
        var device = CallDevice(.headphones)
        device.sampleRate = 44_100
        rig.handle(.device(.interruptionBegan(.noDevice), device))
        rig.handle(.device(.interruptionEnded(.noDevice, seconds: 2), device))
        rig.observation.device = device
        rig.wait(1)
        rig.change(to: [CoreRig.member(2), CoreRig.member(3)], host: 3)
        rig.wait(1)
        #expect(rig.snapshot.effects == effects && rig.snapshot.device?.sampleRate == 44_100)
        #expect(actions() == before)
    }

    @Test func `effects set before the sound are those with which it starts`() throws {
        var rig = CoreRig()
        try Self.set(["limiter"], &rig)
        rig.joinAsGuest()
        rig.startSound()
        let started = rig.events.compactMap { event -> [String]? in
            if case .soundStarted(_, let effects) = event.kind { effects?.texts } else { nil }
        }
        #expect(started == [["limiter"]] && rig.actions.media == ["effects limiter", "start"])
    }

    // MARK: The live part

    private static func call(_ media: TestMedia) throws -> LiveCall {
        var configuration = LiveCall.Configuration()
        configuration.staysAlone = true
        return try LiveCall(configuration, room: TestRoom(), sound: (media, TestDevice()))
    }

    @Test(.timeLimit(.minutes(10)))
    func `a command reaches the media and the running effects, and a refused one does not`() async throws {
        let media = TestMedia()
        let call = try Self.call(media)
        try call.perform(.setEffects(["limiter", "reverb,mix=30"]))
        #expect(await happens { media.effects != nil && call.effects.withLock { $0 != nil } })
        #expect(media.effects?.latency == call.snapshot.effects?.latency)
        let prepared = call.effects.withLock { $0 }
        let mix = try #require(prepared?.chain.effects[1]["mix"])
        #expect(mix.value == 30)
        try call.perform(.setEffectParameter("mix", of: "2", to: "70"))
        #expect(await happens { mix.value == 70 })

        let before = (media.asked, call.snapshot)
        let wrong: [([String], AudioEngineError)] = [
            (["reverb", "revreb"], .noUnit("revreb", near: ["reverb"])),
            (["reverb,mixx=1"], .noParameter(unit: "Reverb", name: "mixx", near: ["mix"])),
            (
                [String](repeating: "gain", count: PreparedEffects.limit + 1),
                .unitFailed(node: "gain", reason: "a voice has at most \(PreparedEffects.limit) effects")
            ),
        ]
        for (texts, error) in wrong {
            #expect(throws: CommandRefusal.effect(error)) { try call.perform(.setEffects(texts)) }
        }
        #expect(call.snapshot == before.1 && media.asked == before.0)
        try call.perform(.setEffects([]))
        #expect(await happens { media.effects == nil })
        await call.close()
        // After the end no effect is looked for.
        #expect(throws: CommandRefusal.ended) { try call.perform(.setEffects(["revreb"])) }
    }

    @Test(.timeLimit(.minutes(10))) func `a room without sound has no effects`() async throws {
        let call = try LiveCall(LiveCall.Configuration(), room: TestRoom())
        #expect(throws: CommandRefusal.noSound) { try call.perform(.setEffects(["reverb"])) }
        #expect(throws: CommandRefusal.noSound) { try call.perform(.setEffectParameter("mix", of: "1", to: "1")) }
        await call.close()
    }

    @Test func `the document of the effects has the names, values, units and ranges of the parameters`() throws {
        var rig = Self.rig()
        try Self.set(["reverb,mix=20", "equalizer,band2.type=notch"], &rig)
        let status = StatusDocument(rig.snapshot, LiveCallLevels(), lastEvent: 1, program: "0", pid: 1)
        let units = try #require(status.effects).units
        #expect(units.map(\.name) == ["reverb", "equalizer"] && units[0].text == "reverb,mix=20")
        #expect(
            units[0].parameters.first { $0.name == "mix" }
                == .init(name: "mix", value: "20", unit: "%", range: "0 to 100 %"))
        #expect(units[1].parameters.first { $0.name == "band2.type" }?.value == "notch")
        #expect(CallJSON.decoded(StatusDocument.self, from: CallJSON.line(status)) == status)
    }
}
