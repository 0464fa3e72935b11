// SPDX-License-Identifier: Apache-2.0

import EarshotAudioDSP
import TestSupport
import Testing

@testable import EarshotAudioEngine

/// Effects and values as text.
@Suite struct EffectTextTests {
    private static func error(_ text: String) -> AudioEngineError? {
        do throws(AudioEngineError) {
            _ = try AudioUnitEffect.effect(parsing: text)
            return nil
        } catch {
            return error
        }
    }

    @Test func `a text gives the effect, a preset and values with or without their units`() throws {
        let reverb = try AudioUnitEffect.effect(parsing: "reverb:large-hall,mix=20 %,preDelay=0.1")
        #expect(reverb["mix"]?.value == 20 && reverb["preDelay"]?.value == 0.1)
        let preset = try #require(reverb.unit.presets.first { $0.name == "large-hall" })
        let decay = try #require(reverb.unit.index(of: "decay"))
        #expect(reverb.parameters[decay].value == reverb.unit.values(of: preset)[decay])
        #expect(try AudioUnitEffect.effect(parsing: "voiceChanger,robot=on")["robot"]?.value == 1)
        #expect(try AudioUnitEffect.effect(parsing: "Voice-Changer,pitch=-12")["pitch"]?.value == -12)
        #expect(try AudioUnitEffect.effect(parsing: "gain,gain=-6dB")["gain"]?.value == -6)
        #expect(try AudioUnitEffect.effect(parsing: "equalizer,band1.type=notch")["band1.type"]?.value != 0)
    }

    @Test(arguments: UnitType.all.filter { $0.description.component.type == .effect }.map(\.description))
    func `the text of an effect creates the same effect, whatever its values`(unit: UnitDescription) throws {
        var random = SeededRandom(seed: 20_261_128)
        for round in 0..<20 {
            let values = unit.parameters.map { parameter -> Float in
                let range = parameter.range
                if round < 2 { return round == 0 ? range.lowerBound : range.upperBound }
                let value = range.lowerBound + Float(random.unit()) * (range.upperBound - range.lowerBound)
                return parameter.unit.isContinuous ? value : value.rounded()
            }
            let text = unit.text(values: values)
            let effect = try AudioUnitEffect.effect(parsing: text)
            #expect(effect.unit == unit && effect.parameters.map(\.value) == values, "\(text)")
        }
        #expect(unit.text(values: unit.defaultValues) == unit.textName)
    }

    @Test func `errors name the effect, the parameter or the value, and similar names`() throws {
        #expect(Self.error("revreb") == .noUnit("revreb", near: ["reverb"]))
        #expect(Self.error("") == .noUnit("", near: []))
        guard case .noUnit("generator", _)? = Self.error("generator") else {
            Issue.record("a generator is no effect")
            return
        }
        #expect(Self.error("reverb,mixx=1") == .noParameter(unit: "Reverb", name: "mixx", near: ["mix"]))
        guard case .noPreset(unit: "Reverb", name: "x", let presets)? = Self.error("reverb:x") else {
            Issue.record("no error about a preset")
            return
        }
        #expect(presets.contains("large-hall"))
        let mix = UnitType.reverb.description.parameters.first { $0.identifier == "mix" }
        for word in ["150", "-1", "nan", "inf", "", "x", "20 % ", "0x", "1e9"] {
            #expect(Self.error("reverb,mix=\(word)") == .wrongSetting(unit: "Reverb", parameter: mix, text: word))
        }
        #expect(Self.error("reverb,mix") == .wrongSetting(unit: "Reverb", parameter: nil, text: "mix"))
        #expect(Self.error("reverb,") == .wrongSetting(unit: "Reverb", parameter: nil, text: ""))
        guard case .noUnit("lv2:urn:nobody:x", _)? = Self.error("lv2:urn:nobody:x") else {
            Issue.record("a plug-in that nobody has")
            return
        }
    }

    @Test func `a choice whose name has a comma is written as its number`() {
        let parameter = UnitParameter("mode", "Mode", .choice(["plain", "a, b"]), 0...1, default: 0)
        #expect(parameter.text(of: 0) == "plain" && parameter.text(of: 1) == "1")
        #expect(parameter.value(parsing: "1") == 1 && parameter.value(parsing: "2") == nil)
    }
}
