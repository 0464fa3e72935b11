// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioCodecs
import TestSupport
import TestTraits
import Testing

@testable import EarshotPlayout

@Suite(.optimized) struct PlayoutTests {
    @Test(arguments: [1, 16, 64, 128, 441, 470, 1024, 4096, 8192])
    func `a lossless line plays every frame once, at any block size`(block: Int) throws {
        let rig = PlayoutRig(configuration: .pcm(), block: block, seconds: 6)
        let r = try rig.run()
        #expect(r.statistics.missingPackets == 0)
        #expect(r.statistics.latePackets == 0)
        #expect(r.statistics.skips == 0)
        #expect(r.statistics.glitches == 0)
        let tail = Array(r.output.suffix(48_000 * 2))
        #expect(sineDefect(tail, frequency: 440, rate: 48_000) < -60)
        #expect(r.statistics.depth < 0.0010)
    }

    @Test func `the delay of a lossless line is one block, the filter and the margin`() throws {
        let r = try PlayoutRig(configuration: .pcm(), block: 64, seconds: 12).run()
        let expected = 64 / 48_000.0 + 16 / 48_000.0 + 0.0005
        #expect(abs(r.statistics.delay - expected) < 0.0002, "delay \(r.statistics.delay * 1e3) ms")
    }

    @Test(arguments: [-300.0, -20, 55, 300])
    func `ten minutes of drift cause neither an overrun nor an underrun`(ppm: Double) throws {
        let rig = PlayoutRig(configuration: .pcm(frames: 480), block: 480, seconds: 600, senderPPM: ppm)
        let r = try rig.run()
        #expect(r.statistics.missingPackets == 0)
        #expect(abs(r.statistics.driftPPM - ppm) < 3, "estimated \(r.statistics.driftPPM)")
        let depths = r.history.filter { $0.time > 20 }.map(\.statistics.depth)
        #expect((depths.max() ?? 1) < 0.002)
        #expect((depths.min() ?? 0) > 0.0001)
    }

    @Test(arguments: [(44_100.0, 48_000.0), (48_000.0, 44_100.0), (48_000.0, 96_000.0), (44_100.0, 32_000.0)])
    func `different stream and device rates keep pitch and delay`(stream: Double, device: Double) throws {
        let rig = PlayoutRig(
            configuration: .pcm(rate: stream, device: device, frames: 256), block: 256, seconds: 30, receiverPPM: 80)
        let r = try rig.run()
        #expect(r.statistics.missingPackets == 0)
        #expect(r.statistics.depth < 0.002)
        // 80 ppm is the device's own error, which the listener hears as pitch, too; the sine is still pure.
        #expect(sineDefect(Array(r.output.suffix(Int(device) * 3)), frequency: 440, rate: device) < -55)
    }

    @Test func `jitter is learned, after which no packet is late`() throws {
        var random = SeededRandom(seed: 7)
        let jitter = (0..<20_000).map { _ in random.unit() * 0.005 }
        let rig = PlayoutRig(configuration: .pcm(), block: 128, seconds: 40, delay: { s, _ in jitter[s] })
        let r = try rig.run()
        let learnt = try #require(r.history.last { $0.time < 10 }).statistics
        #expect(r.statistics.latePackets == learnt.latePackets)
        #expect(r.statistics.depth < 0.0065)
    }

    @Test func `each lost frame is concealed and counted once`() throws {
        let rig = PlayoutRig(configuration: .pcm(), seconds: 10, delay: { s, _ in s % 100 == 99 ? nil : 0.001 })
        let r = try rig.run()
        let lost = 10 * 48_000 / 128 / 100
        #expect(abs(r.statistics.missingPackets - lost) <= 1)
        #expect(abs(r.statistics.concealedFrames - lost * 128) <= 128)
        // Prediction carries a sine across 2.7 ms almost unchanged.
        #expect(sineDefect(Array(r.output.suffix(48_000 * 4)), frequency: 440, rate: 48_000) < -40)
    }

    @Test func `reordered packets play in order`() throws {
        let rig = PlayoutRig(configuration: .pcm(), seconds: 20, delay: { s, _ in s % 50 == 10 ? 0.0045 : 0.001 })
        let r = try rig.run()
        let learnt = try #require(r.history.last { $0.time < 8 }).statistics
        #expect(r.statistics.missingPackets == learnt.missingPackets)
        #expect(sineDefect(Array(r.output.suffix(48_000 * 2)), frequency: 440, rate: 48_000) < -60)
    }

    @Test func `the delay returns to normal after a stall`() throws {
        // At 10 s the link holds everything for 400 ms and then delivers it at once.
        let rig = PlayoutRig(
            configuration: .pcm(), seconds: 40, delay: { _, t in t > 10 && t < 10.4 ? 10.4 - t + 0.001 : 0.001 })
        let r = try rig.run()
        let after = r.history.filter { $0.time > 10.5 }
        // Never above the setting's maximum, and normal again once the stall has left the window of 12 s.
        #expect((after.map(\.statistics.depth).max() ?? 1) < 0.152)
        #expect(r.statistics.depth < 0.002)
    }

    @Test func `a device that skips frames keeps its delay`() throws {
        let rig = PlayoutRig(configuration: .pcm(), seconds: 10, skip: (at: 5, frames: 1_280))
        let r = try rig.run()
        #expect(r.statistics.skips == 1)
        #expect(abs(r.statistics.droppedFrames - 1_280) <= 2)
        #expect(r.statistics.depth < 0.001)
        #expect(r.history.filter { $0.time > 5.1 }.allSatisfy { $0.statistics.depth < 0.001 })
    }

    @Test func `a gap at the sender does not change the delay`() throws {
        let rig = PlayoutRig(
            configuration: .pcm(), seconds: 10, delay: { _, t in t > 5 && t < 5.02 ? nil : 0.001 })
        let r = try rig.run()
        #expect(r.statistics.depth < 0.001)
        #expect(r.statistics.skips == 0)
    }

    @Test func `a restarted sender is followed`() throws {
        let r = try PlayoutRig(configuration: .pcm(), seconds: 12, restart: 4).run()
        #expect(r.statistics.restarts == 1)
        #expect(r.statistics.depth < 0.001)
        #expect(sineDefect(Array(r.output.suffix(48_000 * 3)), frequency: 440, rate: 48_000) < -60)
    }

    @Test(arguments: [120, 240, 480, 960])
    func `Opus is played, and conceals losses with its own decoder`(frames: Int) throws {
        let configuration = PlayoutConfiguration(
            coding: .opus, streamRate: 48_000, deviceRate: 44_100, channelCount: 1, framesPerPacket: frames)
        let r = try PlayoutRig(
            configuration: configuration, block: 256, seconds: 10, delay: { s, _ in s % 100 == 99 ? nil : 0.001 }
        ).run()
        let lost = 10 * 48_000 / frames / 100
        #expect(abs(r.statistics.missingPackets - lost) <= 1)
        #expect(abs(r.statistics.concealedFrames - lost * frames) <= frames)
        #expect(r.statistics.depth < 0.002)
        #expect(sineDefect(Array(r.output.suffix(44_100 * 3)), frequency: 440, rate: 44_100) < -20)
    }

    @Test(arguments: [(64, 48_000.0, 64), (128, 48_000, 64), (256, 44_100, 100), (1_024, 44_100, 64)])
    func `Opus Custom plays any number of frames per packet, and lost frames are concealed`(
        frames: Int, rate: Double, block: Int
    ) throws {
        let configuration = PlayoutConfiguration(
            coding: .opusCustom, streamRate: rate, deviceRate: 48_000, channelCount: 1, framesPerPacket: frames)
        let r = try PlayoutRig(
            configuration: configuration, block: block, seconds: 10, delay: { s, _ in s % 100 == 99 ? nil : 0.001 }
        ).run()
        let lost = Int(10 * rate) / frames / 100
        #expect(abs(r.statistics.missingPackets - lost) <= 1)
        #expect(abs(r.statistics.concealedFrames - lost * frames) <= frames)
        #expect(r.statistics.depth < 0.002)
        #expect(sineDefect(Array(r.output.suffix(48_000 * 3)), frequency: 440, rate: 48_000) < -20)
    }

    @Test(arguments: [64, 256, 1_024, 4_096])
    func `the queue has room for the longest delay with a remote peer's short blocks`(frames: Int) {
        let configuration = PlayoutConfiguration.pcm(frames: frames, latencyProfile: .listen)
        #expect(Double(configuration.packetCapacity * 64) / 48_000 > LatencyProfile.listen.ceiling)
        #expect(Double(configuration.forRecording().packetCapacity * 64) / 48_000 > 1.9)
    }

    @Test func `stereo units that were decoded in advance are played`() throws {
        let configuration = PlayoutConfiguration(
            coding: .decoded, streamRate: 44_100, deviceRate: 44_100, channelCount: 2, framesPerPacket: 1024)
        let r = try PlayoutRig(configuration: configuration, block: 256, seconds: 8).run()
        #expect(r.statistics.missingPackets == 0)
        #expect(sineDefect(Array(r.output.suffix(44_100 * 2)), frequency: 440, rate: 44_100) < -60)
    }

    @Test func `an outage longer than the buffer keeps the learned drift and delay`() throws {
        let rig = PlayoutRig(
            configuration: .pcm(frames: 64), block: 64, seconds: 30, senderPPM: 100,
            delay: { _, t in t > 15 && t < 16 ? nil : 0.001 })
        let r = try rig.run()
        #expect(r.statistics.restarts == 0)
        #expect(abs(r.statistics.driftPPM - 100) < 5)
        #expect(r.history.filter { $0.time > 16.1 }.allSatisfy { $0.statistics.depth < 0.002 })
        #expect(sineDefect(Array(r.output.suffix(48_000 * 5)), frequency: 440, rate: 48_000) < -55)
    }

    @Test func `a slightly late Opus packet is played from its middle on`() throws {
        let configuration = PlayoutConfiguration(
            coding: .opus, streamRate: 48_000, deviceRate: 48_000, channelCount: 1, framesPerPacket: 960)
        let r = try PlayoutRig(
            configuration: configuration, block: 128, seconds: 20, delay: { s, _ in s == 600 ? 0.008 : 0.001 }
        ).run()
        #expect(r.statistics.concealedFrames > 0 && r.statistics.concealedFrames < 720)
        #expect(r.statistics.missingPackets == 0)
    }

    @Test func `silence is played before the first packet`() throws {
        let r = try PlayoutRig(configuration: .pcm(), seconds: 1, delay: { _, _ in nil }).run()
        #expect(r.output.allSatisfy { $0 == 0 })
        #expect(!r.statistics.isStarted)
    }
}
