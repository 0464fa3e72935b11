// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import TestSupport
import TestTraits
import Testing

@testable import EarshotPlayout

/// The sound of a stream over typical networks, and its delay.
@Suite(.optimized) struct PlayoutNetworkTests {
    /// A run of a minute, and its result after the first quarter.
    struct Outcome {
        let result: PlayoutRig.Result
        let depth: Double  // mean, seconds
        let concealed: Double  // shares of all frames
        let lost: Double

        init(_ network: NetworkProfile, _ configuration: PlayoutConfiguration, seed: UInt64, seconds: Double = 60)
            throws
        {
            var rig = PlayoutRig(configuration: configuration, seconds: seconds)
            rig.delay = network.delays(seed: seed)
            rig.keepsOutput = false
            rig.says = voice
            result = try rig.run()
            let settled = result.history.filter { $0.time > seconds / 4 }
            depth = settled.map(\.statistics.depth).reduce(0, +) / Double(settled.count)
            let frames = 0.75 * seconds * configuration.streamRate
            concealed = Double(result.since(seconds / 4, \.concealedFrames)) / frames
            let lostPackets = result.lost.count { $0 > seconds / 4 }
            lost = Double(lostPackets * configuration.framesPerPacket) / frames
            if printsFigures {
                let s = result.statistics
                print(
                    network.name, "\(configuration.framesPerPacket) frames", configuration.latencyProfile,
                    "seed \(seed):",
                    "depth \(ms(depth)), target \(ms(s.targetDepth)), concealed \(percent(concealed)),",
                    "lost \(percent(lost)), late \(s.latePackets) of \(s.packets), glitches \(s.glitches),",
                    "skips \(s.skips), stretched \(s.stretchedFrames) frames")
            }
        }
    }

    @Test(arguments: [128, 480, 960], [1, 2, 3] as [UInt64])
    func `good Wi-Fi with the talk profile waits for 99 % of packets and hardly conceals any sound`(
        frames: Int, seed: UInt64
    ) throws {
        let outcome = try Outcome(.wifiGood, .decoded(frames: frames), seed: seed)
        #expect(outcome.concealed < 0.005, "\(percent(outcome.concealed))")
        let slow = NetworkProfile.wifiGood.delay(atQuantile: 0.99, seed: seed)
        #expect(outcome.depth < slow + Double(frames) / 48_000, "\(ms(outcome.depth)), \(ms(slow))")
    }

    @Test(arguments: [128, 480, 960], [1, 2, 3] as [UInt64])
    func `congested Wi-Fi with the talk profile conceals little more than the network loses`(frames: Int, seed: UInt64)
        throws
    {
        let outcome = try Outcome(.wifiCongested, .decoded(frames: frames), seed: seed)
        #expect(outcome.concealed - outcome.lost < 0.02, "\(percent(outcome.concealed)), \(percent(outcome.lost))")
        #expect(outcome.depth < 0.0815)
        // Back at the target within 1 s of each stall's end, which is at 15.17 s, 20.17 s and so on.
        for end in stride(from: 15.17, to: 59, by: 5) {
            let back = outcome.result.history.first { entry in
                entry.time > end && abs(entry.statistics.depth - entry.statistics.targetDepth) < 0.003
            }
            #expect((back?.time ?? .infinity) < end + 1, "\(back?.time ?? -1) after \(end)")
        }
    }

    @Test(arguments: [64, 128])
    func `a LAN with the sing profile costs only its jitter and the margin`(frames: Int) throws {
        let outcome = try Outcome(.lan, .pcm(frames: frames, latencyProfile: .sing), seed: 1)
        #expect(outcome.depth < 0.0027, "\(ms(outcome.depth))")
        #expect(outcome.concealed < 0.01)
        var quiet = NetworkProfile.lan
        quiet.jitter = .uniform(0.001...0.001)
        let still = try Outcome(quiet, .pcm(frames: frames, latencyProfile: .sing), seed: 1)
        #expect(still.result.statistics.concealedFrames == 0)
        #expect(abs(still.result.statistics.depth - 0.0002) < 0.0001, "\(ms(still.result.statistics.depth))")
    }

    @Test(arguments: [0.1, 0.3, 0.6], [LatencyProfile.sing, .talk, .listen])
    func `the delay returns to normal within a second after a stall`(length: Double, profile: LatencyProfile) throws {
        var network = NetworkProfile.lan
        network.stall = (length, 100)
        network.stallsFrom = 20
        var rig = PlayoutRig(configuration: .pcm(latencyProfile: profile), seconds: 40)
        rig.delay = network.delays(seed: 2)
        let r = try rig.run()
        let before = try #require(r.history.last { $0.time < 20 }?.statistics.depth)
        let after = r.history.filter { $0.time > 20 + length + 1.03 }.map(\.statistics.depth)
        #expect((after.max() ?? 1) < before + 0.0015, "\(ms(before)), then \(ms(after.max() ?? 1))")
        #expect(r.since(19, \.glitches) <= (profile == .sing ? 60 : 12))
    }

    @Test(arguments: [voice, chord, { _ in 0 }] as [@Sendable (Int) -> Float])
    func `a delay that is no longer needed is removed within seconds, inaudibly`(
        says: @escaping @Sendable (Int) -> Float
    ) throws {
        var rough = NetworkProfile.lan
        rough.jitter = .uniform(0.001...0.041)
        let draw = rough.delays(seed: 6)
        var rig = PlayoutRig(configuration: .pcm(), seconds: 45)
        rig.says = says
        rig.delay = { sequence, sent in sent < 20 ? draw(sequence, sent) : 0.001 }
        let r = try rig.run()
        let before = try #require(r.history.last { $0.time < 20 }?.statistics)
        #expect(before.depth > 0.030)
        let settled = try #require(r.history.first { $0.time > 36 }?.statistics)
        #expect(settled.depth < 0.0025, "\(ms(settled.depth))")
        #expect(r.since(21, \.glitches) == 0)
        #expect(r.statistics.stretchedFrames > 1_000)
        #expect(steepest(r.output[(21 * 48_000)...]) < 1.3 * steepest(r.output[(40 * 48_000)...]) + 1e-3)
    }

    @Test func `frequent late copies of lost packets are waited for, and do not count as late`()
        throws
    {
        // Every hundredth packet is lost, and its copy arrives 30 ms later.
        let network: (Int, Double) -> Double? = { s, _ in s % 100 == 50 ? nil : 0.001 }
        var rig = PlayoutRig(configuration: .pcm(latencyProfile: .listen), seconds: 20, delay: network)
        rig.extra = { sequence, sent in
            guard sequence >= 10, (sequence - 10) % 100 == 50 else { return nil }
            return PacketHeader(
                sequence: sequence - 10, position: (sequence - 10) * 128, frameCount: 128, byteCount: 256,
                arrival: HostTime(nanoseconds: 1_000_000_000).advanced(bySeconds: sent + 0.002), isRecovered: true)
        }
        let r = try rig.run()
        #expect(r.statistics.latePackets == 0)
        #expect(abs(r.statistics.depth - 0.028) < 0.002)
    }
}

func ms(_ seconds: Double) -> String { "\((seconds * 10_000).rounded() / 10) ms" }
func percent(_ share: Double) -> String { "\((share * 10_000).rounded() / 100) %" }
