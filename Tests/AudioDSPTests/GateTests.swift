// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import TestSupport
import Testing
import UnitMeasures

@testable import EarshotAudioDSP

@Suite struct GateTests {
    private func gains(_ levels: [(decibels: Double, frames: Int)], _ values: [Float]) -> [Float] {
        let unit = UnitType.gate.makeUnit(sampleRate: 48_000, channelCount: 1)
        unit.set(values)
        let input = levels.flatMap { level in
            (0..<level.frames).map { Float($0 % 2 == 0 ? 1 : -1) * decibelsToGain(Float(level.decibels)) }
        }
        return zip(UnitDrive.render(unit, [input])[0], input).map { $0 / $1 }
    }

    @Test func `the gate opens at the threshold and closes only below the hysteresis`() {
        let values: [Float] = [-40, 6, 0.001, 0.05, 0.02, -60]
        #expect(gains([(-40.1, 48_000)], values).allSatisfy { $0 < 0.0011 })
        let path = gains([(-39.9, 9_600), (-45.9, 96_000), (-46.1, 48_000)], values)
        #expect(abs(path[9_599] - 1) < 1e-4)
        #expect(abs(path[105_000] - 1) < 1e-4)
        #expect(path.last! < 0.0011)
    }

    @Test func `attack, hold and release last as long as set`() {
        let path = gains([(-80, 4_800), (-20, 9_600), (-80, 48_000)], [-40, 6, 0.004, 0.1, 0.05, -60])
        let open = path[4_800...].firstIndex { $0 >= 0.632 }! - 4_800
        #expect(abs(Double(open) / 48 - 4) < 0.05)
        let hold = path[14_400...].firstIndex { $0 < 0.999 }! - 14_400
        #expect(abs(Double(hold) / 48 - 112.5) < 0.2)
        let shut = path[(14_400 + hold)...].firstIndex { $0 <= 0.369 }! - 14_400 - hold
        #expect(abs(Double(shut) / 48 - 50) < 0.5)
    }

    @Test(arguments: [41.0, 100, 440])
    func `a steady low tone does not make the gate flutter`(frequency: Double) {
        let unit = UnitType.gate.makeUnit(sampleRate: 48_000, channelCount: 1)
        unit.set([-40, 0, 0.0001, 0, 0.005, -96])
        let input = UnitDrive.sine(frequency, rate: 48_000, count: 48_000, amplitude: 0.0101)
        let output = UnitDrive.render(unit, [input])[0]
        #expect(UnitDrive.difference(Array(input.suffix(24_000)), Array(output.suffix(24_000))) < -80)
    }

    @Test func `the lowest range setting gives complete silence`() {
        let path = gains([(-20, 4_800), (-80, 96_000)], [-40, 6, 0.001, 0, 0.02, -96])
        #expect(path.last! == 0)
    }
}
