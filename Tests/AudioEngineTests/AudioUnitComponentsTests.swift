// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP
import TestSupport
import Testing

@testable import EarshotAudioEngine

@Suite struct AudioUnitComponentsTests {
    @Test(arguments: UnitType.all.map(\.description.component))
    func `a unit is found by type, subtype and manufacturer`(component: AudioComponentDescription) throws {
        #expect(try AudioUnitEffect(component).unit.component == component)
        #expect(
            AudioUnitEffect.components(
                matching: AudioComponentDescription(subtype: component.subtype, manufacturer: "earshot")
            ).map(\.component) == [component])
    }

    @Test func `a third-party plug-in is found by its URI and processes sound`() throws {
        let uri = "http://plugin.org.uk/swh-plugins/amp"
        let amplifier = try AudioUnitEffect(AudioComponentDescription(subtype: uri, manufacturer: "lv2"))
        let gain = try #require(amplifier.unit.parameters.first)
        amplifier[gain.identifier]?.value = -12
        let rig = EngineRig(channels: 1)
        let source = sineSource(440)
        try rig.engine.attach(source)
        try rig.engine.attach(amplifier)
        try rig.engine.connect(source, to: amplifier)
        try rig.engine.connect(amplifier, to: rig.engine.mainMixerNode)
        try rig.start()
        let output = try rig.render(24_000)[0]
        #expect(abs(decibels(Double(output.suffix(12_000).max() ?? 0) / 0.5) + 12) < 0.1)
    }

    @Test func `an unknown unit gives an error that suggests similar names`() {
        let wanted = AudioComponentDescription(type: .effect, subtype: "revreb", manufacturer: "earshot")
        #expect(throws: AudioEngineError.noUnit("effect / revreb / earshot", near: ["reverb"])) {
            try AudioUnitEffect(wanted)
        }
    }
}
