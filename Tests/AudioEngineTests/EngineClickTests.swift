import AudioBase
import AudioDSP
import EngineMeasures
import TestSupport
import Testing

@testable import AudioEngine

/// A low tone goes through a unit while its parameters move from end to end: what appears above 2 kHz (``ClickMeter``) and was not
/// there while they stood still is a click.
///
/// The tone has 50 Hz at −26 dBFS, so that the greatest gain of any unit (24 dB) leaves it below full scale. A way takes the
/// 20 ms that a plain change has.
@Suite struct EngineClickTests {
    private static let amplitude = 0.05

    private func chain(_ name: String) throws -> UnitChain {
        try UnitChain(name) { sine($0, frequency: 50, rate: 48_000, amplitude: Self.amplitude) }
    }


    private func clicks(_ chain: UnitChain, _ meters: inout [ClickMeter], _ frames: Int) throws -> Double {
        let output = try chain.rig.render(frames, blocks: [64])
        for c in 0..<2 {
            meters[c].restart()
            for sample in output[c] { meters[c].add(sample) }
        }
        return meters.map(\.level).max() ?? 0
    }

    @Test(arguments: EngineUnitTests.names.filter { $0 != "generator" })
    func `every parameter swept from end to end does not click`(name: String) throws {
        let chain = try chain(name)
        var meters = [ClickMeter(), ClickMeter()]
        _ = try clicks(chain, &meters, 24_000)
        for parameter in chain.node.parameters {
            let range = parameter.information.range
            let before = parameter.value
            for value in [range.upperBound, range.lowerBound, range.upperBound, before] {
                let steadyBefore = try clicks(chain, &meters, 4_800)
                parameter.value = value
                let moving = try clicks(chain, &meters, 9_600)
                let steadyAfter = try clicks(chain, &meters, 4_800)
                let steady = max(steadyBefore, steadyAfter)
                print("CLICK \(name) \(parameter.information.identifier) → \(value): \(moving) (\(steady))")
                #expect(
                    moving < max(-60, steady + 3), "\(parameter.information.identifier) → \(value), \(steady) at rest")
            }
        }
    }

    @Test(arguments: EngineUnitTests.names.filter { $0 != "generator" })
    func `presets change while it sounds without a click`(name: String) throws {
        let chain = try chain(name)
        var meters = [ClickMeter(), ClickMeter()]
        _ = try clicks(chain, &meters, 24_000)
        for preset in chain.node.unit.presets + chain.node.unit.presets.prefix(1) {
            let before = try clicks(chain, &meters, 4_800)
            try chain.node.loadPreset(preset.name)
            let moving = try clicks(chain, &meters, 9_600)
            let after = try clicks(chain, &meters, 4_800)
            print("CLICK \(name) preset \(preset.name): \(moving) (\(before) \(after))")
            #expect(moving < max(-60, before + 3, after + 3), "\(preset.name): \(before), \(after) at rest")
        }
    }
}
