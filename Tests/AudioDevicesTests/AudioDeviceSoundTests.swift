// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDevices
import Foundation
import TestSupport
import TestTraits
import Testing

/// Tests the sound from a device's output to its input, on each sound system.
@Suite("AudioDevice: sound", .serialized, .realTime, .needs("jackd", "pipewire")) struct AudioDeviceSoundTests {
    typealias Kind = DeviceBench.Kind

    @Test("output is captured after the delay given by the latencies", arguments: Kind.allCases)
    func loop(_ kind: Kind) throws {
        try DeviceBench.with(kind, .init(connects: false)) { bench in
            let device = try bench.open(inputs: 2, outputs: 2)
            let probe = LoopProbe()
            try device.start(probe.callback)
            try bench.closeLoop(device)
            #expect(eventually { probe.clicks.filter { $0.channel == 1 }.count >= 6 })
            let expected = (device.inputLatency + device.outputLatency) * device.sampleRate
            device.stop()
            for channel in 0..<2 {
                // The machine may delay the card by a block, whose sound is then heard at another position.
                let delays = probe.delays(of: channel, playedOn: channel).dropFirst()
                let near = delays.filter { abs(Double($0) - expected) <= Double(device.blockFrameCount) + 0.5 }
                #expect(
                    near.count * 2 > delays.count,
                    "frames: \(Array(delays)), expected \(expected) on channel \(channel)")
            }
        }
    }

    struct Maps: CustomTestStringConvertible {
        var input: [Int]
        var output: [Int]
        var testDescription: String { "\(input) \(output)" }
    }

    @Test(
        "channels are routed by the maps, and missing device channels are silent",
        arguments: Kind.allCases.filter { $0 != .jack },
        [Maps(input: [1, 0, 900], output: [0, 1]), Maps(input: [0, 1, 900], output: [1, 0])])
    func maps(_ kind: Kind, _ maps: Maps) throws {
        try DeviceBench.with(kind) { bench in
            let device = try bench.open(inputs: 3, outputs: 2) {
                $0.inputChannelMap = maps.input
                $0.outputChannelMap = maps.output
            }
            let probe = LoopProbe()
            try device.start(probe.callback)
            try bench.closeLoop(device)
            #expect(eventually { probe.clicks.filter { $0.channel == 1 }.count >= 4 })
            device.stop()
            #expect(!probe.clicks.contains { $0.channel == 2 })
            let crossed = [Set(probe.delays(of: 0, playedOn: 1)), Set(probe.delays(of: 1, playedOn: 0))]
            #expect(!crossed[0].isDisjoint(with: crossed[1]), "\(crossed)")
        }
    }

    @Test("latencies are positive and plausible for the block size", arguments: Kind.allCases, [64, 1_024])
    func latencies(_ kind: Kind, block: Int) throws {
        try DeviceBench.with(kind, .block(block)) { bench in
            let device = try bench.open()
            let probe = CycleProbe()
            try device.start(probe.callback)
            #expect(eventually { probe.count >= 20 })
            let period = Double(block) / device.sampleRate
            for latency in [device.inputLatency, device.outputLatency] {
                #expect(latency > 0 && latency < 8 * period + 0.05)
            }
            device.stop()
        }
    }
}
