import AudioBase
import AudioDevices
import Foundation
import TestSupport
import Testing

/// What goes out of a device and comes in again, of whichever sound system.
@Suite("AudioDevice: sound", .serialized) struct AudioDeviceSoundTests {
    typealias Kind = DeviceBench.Kind

    @Test("what is played is heard, as late as the latencies say", arguments: Kind.allCases)
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
                // The machine may hold up the card for a block, and what it lost is not heard where it was meant to be.
                let delays = probe.delays(of: channel, playedOn: channel).dropFirst()
                let near = delays.filter { abs(Double($0) - expected) <= Double(device.blockFrameCount) + 0.5 }
                #expect(
                    near.count * 2 > delays.count,
                    "frames: \(Array(delays)), expected \(expected) on channel \(channel)")
            }
        }
    }

    @Test("channels go where the maps say", arguments: Kind.allCases)
    func maps(_ kind: Kind) throws {
        guard kind != .jack else { return }  // its loop is between the device's own ports: see JACKSystemTests
        try DeviceBench.with(kind, .init(channelCount: 4)) { bench in
            let device = try bench.open(inputs: 3, outputs: 2) {
                $0.inputChannelMap = [3, 1, 9]
                $0.outputChannelMap = [1, 3]
            }
            let probe = LoopProbe()
            try device.start(probe.callback)
            try bench.closeLoop(device)
            #expect(eventually { probe.clicks.filter { $0.channel == 1 }.count >= 4 })
            device.stop()
            #expect(!probe.clicks.contains { $0.channel == 2 })
            // Output 0 goes to the device's channel 1, which is input 1; output 1 to channel 3, which is input 0.
            let straight = Set(probe.delays(of: 1, playedOn: 0).dropFirst())
            let crossed = Set(probe.delays(of: 0, playedOn: 1).dropFirst())
            #expect(!straight.isDisjoint(with: crossed), "\(straight) and \(crossed)")
        }
    }

    @Test("latencies are those of the calls, and plausible", arguments: Kind.allCases, [64, 1_024])
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
