// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import TestSupport
import TestTraits
import Testing

@testable import EarshotPlayout

/// The documented times, rates and numbers of a playout, as seen from outside.
@Suite(.optimized) struct PlayoutTimesTests {
    private static let noise: [Float] = {
        var random = SeededRandom(seed: 9)
        return (0..<480_000).map { _ in Float(random.unit() - 0.5) }
    }()

    /// Returns how much faster than its length each block was played, where the timeline was not moved in it.
    private func speeds(_ r: PlayoutRig.Result, block: Int, from time: Double) -> [Double] {
        r.history.indices.dropFirst(2).compactMap { at in
            // A stretch in one block moves the position of the next.
            let (first, a, b) = (r.history[at - 2].statistics, r.history[at - 1].statistics, r.history[at].statistics)
            guard r.history[at].time > time, a.skips == b.skips, first.stretchedFrames == b.stretchedFrames else {
                return nil
            }
            return (b.position - a.position) / Double(block) - 1
        }
    }

    @Test func `excess delay is played at most 2,000 ppm faster, missing delay at most 5,000 ppm slower`()
        throws
    {
        var rig = PlayoutRig(configuration: .pcm(latencyProfile: .listen), seconds: 90)
        rig.says = { Self.noise[$0 % Self.noise.count] }
        rig.keepsOutput = false
        // From 20 s to 24 s one packet in a hundred is 25 ms later than the others.
        rig.delay = { sequence, sent in (20..<24).contains(sent) && sequence % 100 == 0 ? 0.026 : 0.001 }
        let r = try rig.run()
        let speeds = speeds(r, block: rig.block, from: 10)
        #expect(abs((speeds.max() ?? 0) - 0.002) < 0.000_1, "\(speeds.max() ?? 0)")
        #expect(abs((speeds.min() ?? 0) + 0.005) < 0.000_1, "\(speeds.min() ?? 0)")
    }

    @Test func `a recording's speed changes by at most 500 ppm once its delay is known`() throws {
        var rig = PlayoutRig(configuration: PlayoutConfiguration.pcm(latencyProfile: .sing).forRecording(), seconds: 90)
        rig.keepsOutput = false
        rig.says = tabled()
        rig.delay = { _, sent in (20..<25).contains(sent) ? 0.001 : 0.004 }
        let r = try rig.run()
        let speeds = speeds(r, block: rig.block, from: 15)
        #expect(abs((speeds.min() ?? 0) + 0.000_5) < 0.000_02 || abs((speeds.max() ?? 0) - 0.000_5) < 0.000_02)
        #expect(speeds.allSatisfy { abs($0) < 0.000_52 })
        #expect(r.statistics.skips == 0 && r.statistics.concealedFrames == 0)
    }

    @Test(arguments: [(LatencyProfile.sing, 0.003), (.talk, 0.005), (.listen, 0.031_25)])
    func `the initial margin is a sixteenth of the ceiling, but at least 3 ms`(profile: LatencyProfile, inHand: Double)
        throws
    {
        var rig = PlayoutRig(configuration: .pcm(latencyProfile: profile), block: 64, seconds: 1)
        rig.delay = { _, _ in 0.020 }
        let r = try rig.run()
        let first = try #require(r.history.first { $0.statistics.isStarted }).statistics
        // The margin of half a millisecond is added.
        #expect(abs(first.depth - (inHand + 0.000_5)) < 0.000_1, "\(first.depth)")
        #expect(first.glitches == 0 && first.skips == 0)
    }

    @Test func `a fixed depth applies from the first frame on`() throws {
        for depth in [0.001, 0.1, 0.5] {
            var rig = PlayoutRig(configuration: PlayoutConfiguration.pcm().forRecording(depth: depth), seconds: 1)
            rig.delay = { _, _ in 0.020 }
            let r = try rig.run()
            let first = try #require(r.history.first { $0.statistics.isStarted }).statistics
            #expect(abs(first.depth - depth - 0.000_5) < 0.000_2, "\(first.depth)")
            #expect(r.statistics.concealedFrames == 0 && r.statistics.skips == 0)
            let heard = r.output.firstIndex { abs($0) > 0.01 } ?? 0
            let right = 0.020 + 128 / 48_000.0 + depth
            #expect(abs(Double(heard) / 48_000 - right) < 0.004, "\(Double(heard) / 48_000)")
        }
    }

    @Test func `a forecast is published every second`() throws {
        var counts: [Double] = []
        var rig = PlayoutRig(configuration: .pcm(), seconds: 10)
        rig.says = tabled()
        rig.keepsOutput = false
        rig.before = { playout, _ in
            let count = playout.forecast.packetCount
            if count != counts.last { counts.append(count) }
        }
        _ = try rig.run()
        #expect((10...12).contains(counts.count), "\(counts)")
        // 375 packets are sent per second.
        #expect(zip(counts.dropFirst(2), counts.dropFirst(3)).allSatisfy { abs($1 - $0 - 375) < 10 }, "\(counts)")
    }

    @Test func `a sender whose sequence numbers fall back slightly is followed after half a second`() throws {
        var rig = PlayoutRig(configuration: .pcm(), seconds: 12, restart: 8)
        rig.restartShift = (-1_000, 0)
        rig.keepsOutput = false
        let r = try rig.run()
        let restart = try #require(r.history.first { $0.statistics.restarts > 0 }).time
        #expect((8.49...8.53).contains(restart), "\(restart)")
        #expect(r.statistics.restarts == 1)
        // The packets before that were counted as late.
        #expect((180...195).contains(r.statistics.latePackets), "\(r.statistics.latePackets)")
    }

    @Test(arguments: [(1.9, 0), (2.1, 1), (-1.9, 0), (-2.1, 1)])
    func `a timeline jump of more than two seconds counts as a restart of the sender`(
        jump: Double, restarts: Int
    ) throws {
        var rig = PlayoutRig(configuration: .pcm(), seconds: 9)
        rig.senderGap = (at: 8, frames: Int(jump * 48_000))
        rig.keepsOutput = false
        let r = try rig.run()
        let soon = try #require(r.history.last { $0.time < 8.2 }).statistics
        #expect(soon.restarts == restarts)
    }

    /// Pulls blocks of 128 frames. `before` may push packets before each.
    private func pull(
        _ configuration: PlayoutConfiguration, blocks: Int,
        _ before: (_ playout: Playout, _ block: Int, _ now: HostTime) -> Void
    ) throws -> PlayoutStatistics {
        let playout = try Playout(configuration)
        let buffer = AudioBuffer(channelCount: 1, frameCapacity: 128)
        for n in 0..<blocks {
            let now = HostTime(nanoseconds: 1_000_000_000).advanced(bySeconds: Double(n) * 128 / 48_000)
            before(playout, n, now)
            playout.renderer.pull(buffer.channels, frameCount: 128, sampleTime: Int64(128 * n), hostTime: now)
        }
        return playout.statistics
    }

    @Test(arguments: [(-1, 1), (0, 0), (100, 0)])
    func `a recovered packet that is too far ahead does not displace a waiting packet`(
        beyond: Int, recovered: Int
    ) throws {
        var configuration = PlayoutConfiguration.pcm()
        configuration.initialMargin = 0.1
        let reach = 2 * configuration.packetCapacity
        let payload = [UInt8](repeating: 0, count: 256)
        let statistics = try pull(configuration, blocks: 60) { playout, block, now in
            func push(_ sequence: Int, isRecovered: Bool) {
                let header = PacketHeader(
                    sequence: sequence, position: 128 * sequence, frameCount: 128, byteCount: 256, arrival: now,
                    isRecovered: isRecovered)
                _ = payload.withUnsafeBytes { playout.packets.push(header, payload: $0) }
            }
            if block < 50 { push(block, isRecovered: false) }
            // The first packet waits to be played.
            if block == 5 { push(reach + beyond, isRecovered: true) }
        }
        #expect(statistics.recoveredPackets == recovered)
        #expect(statistics.missingPackets == 0 && statistics.latePackets == 0 && statistics.glitches == 0)
    }

    @Test func `a recovered packet counts once, and only if its original is missing`() throws {
        var configuration = PlayoutConfiguration.pcm()
        configuration.initialMargin = 0.1
        let payload = [UInt8](repeating: 0, count: 256)
        let statistics = try pull(configuration, blocks: 200) { playout, block, now in
            func push(_ sequence: Int, isRecovered: Bool, wasRequested: Bool = false) {
                let header = PacketHeader(
                    sequence: sequence, position: 128 * sequence, frameCount: 128, byteCount: 256, arrival: now,
                    isRecovered: isRecovered, wasRequested: wasRequested)
                _ = payload.withUnsafeBytes { playout.packets.push(header, payload: $0) }
            }
            if block == 0 { push(1_000, isRecovered: true) }  // the stream has not begun
            if block != 10, block != 15 { push(block, isRecovered: false) }
            if block == 20 {
                push(10, isRecovered: true)
                push(10, isRecovered: true)
                push(11, isRecovered: true)
                push(15, isRecovered: true, wasRequested: true)
            }
            if block == 150 { push(20, isRecovered: true) }  // it was played long ago
        }
        #expect(statistics.recoveredPackets == 2 && statistics.requestedPackets == 1)
        #expect(statistics.packets == 198 && statistics.missingPackets == 0 && statistics.glitches == 0)
        #expect(statistics.codecRecoveredPackets == 0)
    }

    @Test func `a packet that starts a stream restarts playout, wherever it is on the timeline`() throws {
        let payload = [UInt8](repeating: 0, count: 256)
        let statistics = try pull(.pcm(), blocks: 400) { playout, block, now in
            let header = PacketHeader(
                sequence: block, position: 128 * block, frameCount: 128, byteCount: 256, arrival: now,
                startsStream: block == 0 || block == 200)
            _ = payload.withUnsafeBytes { playout.packets.push(header, payload: $0) }
        }
        #expect(statistics.restarts == 1 && statistics.packets == 400)
    }

    /// Plays a tone of 300 Hz on a line where one packet in twenty is this late, from 20 s to 24 s.
    private func stretched(_ profile: LatencyProfile, late: Double) throws -> PlayoutRig.Result {
        var rig = PlayoutRig(configuration: .pcm(latencyProfile: profile), seconds: 45)
        rig.says = { sine($0 % 160, frequency: 300, rate: 48_000) }
        rig.keepsOutput = false
        rig.delay = { sequence, sent in (20..<24).contains(sent) && sequence % 20 == 0 ? 0.001 + late : 0.001 }
        return try rig.run()
    }

    @Test(arguments: [(0.0037, false), (0.0046, true)])
    func `periods of a tone are skipped if the delay is more than 4 ms too long`(
        late: Double, isStretched: Bool
    ) throws {
        let r = try stretched(.talk, late: late)
        // The packets of 20 s to 24 s are remembered for 12 s.
        #expect((r.since(26, \.stretchedFrames) > 0) == isStretched, "\(r.since(26, \.stretchedFrames))")
        #expect(r.since(26, \.skips) == 0 && r.statistics.depth < 0.0015)
    }

    @Test func `excess delay in the first two seconds is corrected only by the playing speed`() throws {
        var rig = PlayoutRig(configuration: .pcm(latencyProfile: .talk), seconds: 6)
        rig.says = voice
        rig.keepsOutput = false
        let r = try rig.run()
        let early = try #require(r.history.last { $0.time < 1.9 }).statistics
        #expect(early.stretchedFrames == 0 && early.skips == 0 && early.depth > 0.0005)
    }

    @Test(arguments: [(0.09, 0), (0.16, 1)])
    func `excess delay of more than 120 ms is skipped at once`(late: Double, skips: Int) throws {
        var rig = PlayoutRig(configuration: .pcm(latencyProfile: .listen), seconds: 45)
        rig.keepsOutput = false
        rig.says = tabled()
        rig.delay = { sequence, _ in sequence % 100 == 0 ? 0.001 + late : 0.001 }
        rig.before = { playout, now in
            if now >= 40, playout.latencyProfile == .listen { playout.latencyProfile = .sing }
        }
        let r = try rig.run()
        let before = try #require(r.history.last { $0.time < 40 }).statistics
        #expect(abs(before.depth - late) < 0.005, "\(before.depth)")
        let soon = try #require(r.history.first { $0.time > 40.01 }).statistics
        #expect(soon.skips - before.skips == skips)
        #expect(soon.droppedFrames - before.droppedFrames > 6_000 || skips == 0)
    }

    @Test(arguments: [(0, 1), (1, 0), (-1, 1)])
    func `a packet goes to the first cycle after its arrival, however late that cycle is pulled`(
        nanoseconds: Int64, packets: Int
    ) throws {
        let payload = [UInt8](repeating: 0, count: 256)
        let statistics = try pull(PlayoutConfiguration.pcm().forRecording(), blocks: 3) { playout, block, now in
            guard block == 2 else { return }
            let header = PacketHeader(
                sequence: 0, position: 0, frameCount: 128, byteCount: 256,
                arrival: HostTime(nanoseconds: now.nanoseconds + nanoseconds))
            _ = payload.withUnsafeBytes { playout.packets.push(header, payload: $0) }
        }
        #expect(statistics.packets == packets)
    }

    /// This many packets behind the newest, by sequence number and by position.
    @Test(arguments: [
        (1_500, 1_500, 0), (2_000, 990, 1), (2_000, 1_010, 0), (500, 990, 0), (500, 1_010, 1), (740, 740, 0),
        (-10, 1_500, 1),
    ])
    func `an overtaken packet is late, and one elsewhere on the timeline starts a stream`(
        numbers: Int, places: Int, restarts: Int
    ) throws {
        let payload = [UInt8](repeating: 0, count: 256)
        let statistics = try pull(.pcm(), blocks: 2_500) { playout, block, now in
            func push(_ sequence: Int, _ place: Int) {
                let header = PacketHeader(
                    sequence: sequence, position: 128 * place, frameCount: 128, byteCount: 256, arrival: now)
                _ = payload.withUnsafeBytes { playout.packets.push(header, payload: $0) }
            }
            push(block, block)
            if block == 2_499 { push(block - numbers, block - places) }
        }
        #expect(statistics.restarts == restarts)
        #expect(statistics.latePackets == 1 - restarts)
    }
}
