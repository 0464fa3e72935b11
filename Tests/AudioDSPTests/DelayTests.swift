// SPDX-License-Identifier: Apache-2.0

import EarshotAudioDSP
import Testing
import UnitMeasures

@Suite struct DelayTests {
    @Test func `repeats, low-pass and parameter changes meet their measured limits`() {
        for figure in delayFigures() { #expect(figure.isMet, "\(figure)") }
    }

    @Test func `an unpaired last channel repeats normally in ping-pong mode`() {
        let responses = RoomResponse.paths(
            .delay, ["time": 0.01, "feedback": 50, "cutoff": 20_000, "pingPong": 1, "mix": 100], channelCount: 3,
            seconds: 0.05)
        let last = responses[8]  // third input, third output
        #expect(last.indices.filter { last[$0] != 0 } == [480, 960, 1440, 1920])
        #expect(responses[6].allSatisfy { $0 == 0 } && responses[7].allSatisfy { $0 == 0 })
    }

    @Test func `a tail with 99 % feedback ends in zeros`() throws {
        let unit = UnitType.delay.makeUnit(sampleRate: 48_000, channelCount: 2)
        unit.set(unit.description.values(of: UnitPreset("", ["time": 0.005, "feedback": 99, "mix": 100])))
        var input = [[Float]](repeating: [Float](repeating: 0, count: 600_000), count: 2)
        input[0][0] = 1
        let output = UnitDrive.render(unit, input)
        let last = try #require(output[0].lastIndex { $0 != 0 })
        #expect(last > 100_000 && last < 500_000)
        #expect(abs(output[0][last]) < 1e-7)
    }
}
