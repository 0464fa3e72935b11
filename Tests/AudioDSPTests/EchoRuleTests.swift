// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP
import TestTraits
import Testing
import UnitMeasures

/// Tests the contract of every unit on the two with the longest memory.
@Suite(.optimized) struct EchoRuleTests {
    /// A setting that begins some frames after the start and is reached within this many.
    struct Move {
        var frame: Int
        var values: [String: Float]
        var over = 32
    }

    static let moves = [
        Move(frame: 1000, values: ["time": 0.013, "size": 12, "decay": 0.9, "preDelay": 0.004, "highFrequency": 1500]),
        Move(frame: 1016, values: ["time": 0.017, "size": 21, "decay": 3, "pingPong": 1, "width": 10], over: 17),
        Move(frame: 1500, values: ["feedback": -80, "highRatio": 0.2, "lowRatio": 1.7, "mix": 80, "cutoff": 900]),
        Move(frame: 2411, values: ["time": 0.006, "decay": 0.3], over: 0),
    ]

    func values(_ type: UnitType, _ named: [String: Float]) -> [Float] {
        type.description.values(of: UnitPreset("", named))
    }

    func noise(_ channels: Int, _ count: Int, loud: Float = 1) -> [[Float]] {
        var source = SmallNoise()
        return (0..<channels).map { _ in (0..<count).map { _ in loud * source.next() } }
    }

    func render(_ unit: UnitInstance, _ type: UnitType, _ input: [[Float]], blocks: [Int]) -> [[Float]] {
        var output = [[Float]](repeating: [], count: input.count)
        var from = 0
        for end in Self.moves.map(\.frame) + [input[0].count] {
            let part = input.map { Array($0[from..<end]) }
            for (c, x) in UnitDrive.render(unit, part, blocks: blocks).enumerated() { output[c] += x }
            if let move = Self.moves.first(where: { $0.frame == end }) {
                unit.set(values(type, move.values), over: move.over)
            }
            from = end
        }
        return output
    }

    @Test(arguments: ["delay", "reverb"], [8000.0, 48_000, 192_000])
    func `the block size does not change the output`(name: String, rate: Double) throws {
        let type = try #require(UnitType.all.first { $0.description.component.subtype == name })
        for channels in [1, 2, 5] {
            let input = noise(channels, 20_000)
            let reference = render(
                type.makeUnit(sampleRate: rate, channelCount: channels), type, input, blocks: [1])
            #expect(reference.allSatisfy { $0.contains { $0 != 0 } })
            for blocks in [[7], [64], [4096], [1, 4096, 17, 32]] {
                let unit = type.makeUnit(sampleRate: rate, channelCount: channels)
                #expect(render(unit, type, input, blocks: blocks) == reference)
                // And again after a reset, and with a new unit that has the last values.
                unit.reset()
                let again = UnitDrive.render(unit, input, blocks: blocks)
                let fresh = type.makeUnit(sampleRate: rate, channelCount: channels)
                fresh.set(values(type, Self.moves.last!.values))
                #expect(UnitDrive.render(fresh, input) == again)
            }
        }
    }

    @Test(arguments: ["delay", "reverb"])
    func `input and output may share memory`(name: String) throws {
        let type = try #require(UnitType.all.first { $0.description.component.subtype == name })
        let input = noise(3, 9000)
        let apart = UnitDrive.render(type.makeUnit(sampleRate: 48_000, channelCount: 3), input)
        let unit = type.makeUnit(sampleRate: 48_000, channelCount: 3)
        let buffer = AudioBuffer(channelCount: 3, frameCapacity: 9000)
        for c in 0..<3 { for i in 0..<9000 { buffer.channels[c][i] = input[c][i] } }
        unit.process(buffer.channels, buffer.channels, frameCount: 9000)
        for c in 0..<3 { #expect((0..<9000).allSatisfy { buffer.channels[c][$0] == apart[c][$0] }) }
    }

    @Test(arguments: ["delay", "reverb"], [8000.0, 48_000, 192_000])
    func `loud noise stays finite at the limits of every parameter`(name: String, rate: Double) throws {
        let type = try #require(UnitType.all.first { $0.description.component.subtype == name })
        let parameters = type.description.parameters
        let input = noise(2, Int(rate / 4), loud: 1000)
        for bits in 0..<(1 << parameters.count) {
            let unit = type.makeUnit(sampleRate: rate, channelCount: 2)
            unit.set(parameters.enumerated().map { bits >> $0 & 1 == 0 ? $1.range.lowerBound : $1.range.upperBound })
            for x in UnitDrive.render(unit, input, blocks: [512]) {
                // A feedback of 99 % may sum to a hundredfold.
                #expect(x.allSatisfy { abs($0) < 110_000 })
            }
        }
    }

    @Test(arguments: ["delay", "reverb"])
    func `presets set only existing parameters, within their ranges`(name: String) throws {
        let type = try #require(UnitType.all.first { $0.description.component.subtype == name })
        for preset in type.description.presets {
            for (identifier, value) in preset.values {
                let place = try #require(type.description.index(of: identifier), "\(preset.name): \(identifier)")
                #expect(type.description.parameters[place].range.contains(value), "\(preset.name): \(identifier)")
            }
        }
    }

    @Test(arguments: ["delay", "reverb"])
    func `a mix of 0 leaves the input unchanged`(name: String) throws {
        let type = try #require(UnitType.all.first { $0.description.component.subtype == name })
        let input = noise(2, 5000)
        let unit = type.makeUnit(sampleRate: 44_100, channelCount: 2)
        unit.set(values(type, ["mix": 0]))
        #expect(UnitDrive.render(unit, input) == input)
    }

    @Test(arguments: ["delay", "reverb"])
    func `output that was silent for the unit's memory stays silent`(name: String) throws {
        let type = try #require(UnitType.all.first { $0.description.component.subtype == name })
        let extremes: [[String: Float]] = [
            ["time": 2, "feedback": 99, "size": 26, "preDelay": 0.25, "decay": 1.4, "mix": 100],
            ["time": 0.02, "feedback": -50, "size": 12, "preDelay": 0, "decay": 0.2, "mix": 100],
        ]
        for named in extremes {
            let unit = type.makeUnit(sampleRate: 8000, channelCount: 2)
            unit.set(values(type, named))
            var input = noise(2, 200_000)
            for c in 0..<2 { for i in 50..<200_000 { input[c][i] = 0 } }
            let output = UnitDrive.render(unit, input)
            var quiet = 0
            var ended = false
            for i in 50..<200_000 {
                let silent = output[0][i] == 0 && output[1][i] == 0
                if ended && !silent {
                    Issue.record("\(name): sound \(i) frames after the click, after a silence of \(quiet)")
                    break
                }
                quiet = silent ? quiet + 1 : 0
                if quiet >= unit.memory { ended = true }
            }
            // In the delay the first one lasts longer than this.
            #expect(ended || named["time"] == 2)
        }
    }
}
