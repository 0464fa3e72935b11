// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioCodecs
import TestSupport
import Testing

@testable import EarshotPlayout

/// Packets that arrive in another packet, or again.
@Suite struct RecoveryTests {
    /// Plays packets of 480 frames, each a millisecond after it was sent. The copies of those for which `loses` returns true arrive
    /// this many packets later, or never.
    private func play(
        seconds: Double, copies: Int?, wasRequested: Bool = false, loses: (Int) -> Bool
    ) throws -> PlayoutRig.Result {
        let playout = try Playout(.pcm(frames: 480))
        let buffer = AudioBuffer(channelCount: 1, frameCapacity: 120)
        let payload = [UInt8](repeating: 1, count: 960)
        let start = HostTime(nanoseconds: 1_000_000_000)
        var result = PlayoutRig.Result()
        var sent = 0
        for step in 0..<Int(seconds * 400) {
            let now = start.advanced(bySeconds: Double(step) / 400)
            while Double(sent + 1) * 0.010 + 0.001 <= Double(step) / 400 {
                let arrival = start.advanced(bySeconds: Double(sent + 1) * 0.010 + 0.001)
                func push(_ n: Int, isRecovered: Bool) {
                    let header = PacketHeader(
                        sequence: n, position: n * 480, frameCount: 480, byteCount: 960, arrival: arrival,
                        isRecovered: isRecovered, wasRequested: isRecovered && wasRequested)
                    _ = payload.withUnsafeBytes { playout.packets.push(header, payload: $0) }
                }
                if let copies, sent >= copies, loses(sent - copies) { push(sent - copies, isRecovered: true) }
                if !loses(sent) { push(sent, isRecovered: false) }
                sent += 1
            }
            playout.renderer.pull(
                buffer.channels, frameCount: 120, sampleTime: Int64(step * 120), hostTime: now)
            result.history.append((Double(step) / 400, playout.statistics))
        }
        result.statistics = playout.statistics
        #expect(playout.packets.hold?.seconds == result.statistics.depth)
        #expect(playout.packets.hold?.limit == result.statistics.depthLimit)
        return result
    }

    @Test func `playout waits for copies of lost packets, and they fill the gaps`() throws {
        let r = try play(seconds: 30, copies: 1) { $0 % 20 == 7 }
        #expect((0.0095...0.0125).contains(r.statistics.depth), "\(r.statistics.depth)")
        let then = r.history.first { $0.time > 10 }!.statistics
        #expect(r.statistics.missingPackets == then.missingPackets)
        #expect(r.statistics.concealedFrames == then.concealedFrames)
        #expect(r.statistics.recoveredPackets - then.recoveredPackets > 90)
        #expect(r.statistics.latePackets == 0)
    }

    @Test func `the delay becomes short again when losses stop`() throws {
        let r = try play(seconds: 60, copies: 1) { $0 % 20 == 7 && $0 < 2_000 }
        #expect(r.history.first { $0.time > 19 }!.statistics.depth > 0.0095)
        #expect(r.statistics.depth < 0.001)
    }

    @Test func `two losses in twelve seconds or requested packets do not raise the target depth`() throws {
        let rare = try play(seconds: 30, copies: 1) { $0 % 700 == 7 }
        #expect(rare.statistics.targetDepth < 0.001)
        let asked = try play(seconds: 30, copies: 2, wasRequested: true) { $0 % 20 == 7 }
        #expect(asked.statistics.targetDepth < 0.001)
    }

    @Test func `copies that arrive far too late do not raise the delay beyond the ceiling`() throws {
        let r = try play(seconds: 20, copies: 30) { $0 % 20 == 7 }
        #expect(r.statistics.targetDepth <= 0.151 && r.statistics.recoveredPackets == 0)
    }

    @Test func `a single slow copy among many is ignored`() {
        var tracker = RecoveryTracker()
        for n in 0..<20 { tracker.add(recovered: n == 9 ? 0.5 : 0.02, at: Double(n) * 0.5) }
        let once = tracker.offset(at: 10, drift: 0)
        #expect(once == 0.02)
        tracker.add(recovered: 0.4, at: 10)
        let twice = tracker.offset(at: 10, drift: 0)
        #expect(twice == 0.4, "two are not")
        for n in 21..<50 { tracker.add(at: Double(n) * 0.5) }
        let later = tracker.offset(at: 25, drift: 0)
        #expect(later == nil, "12 s later nothing is known of them")
    }

    @Test func `the greatest of three offsets counts, and the second greatest of four`() {
        var tracker = RecoveryTracker()
        for (n, offset) in [0.02, 0.5, 0.03].enumerated() { tracker.add(recovered: offset, at: Double(n) * 0.5) }
        let three = tracker.offset(at: 1.5, drift: 0)
        #expect(three == 0.5)
        tracker.add(recovered: 0.01, at: 1.5)
        let four = tracker.offset(at: 2, drift: 0)
        #expect(four == 0.03)
    }

    @Test func `two recovered packets give no offset, and three give one`() {
        var tracker = RecoveryTracker()
        for n in 0..<2 { tracker.add(recovered: 0.02, at: Double(n) * 0.1) }
        let two = tracker.offset(at: 0.2, drift: 0)
        #expect(two == nil)
        tracker.add(recovered: 0.01, at: 0.2)
        let three = tracker.offset(at: 0.2, drift: 0)
        #expect(three == 0.02)
    }

    @Test func `the offset of recovered packets follows the sender's drift`() throws {
        var tracker = RecoveryTracker()
        for n in 0..<3 { tracker.add(recovered: 0.02, at: Double(n) * 0.1) }
        let found = tracker.offset(at: 10, drift: 100e-6)
        let offset = try #require(found)
        #expect(abs(offset - 0.019) < 1e-9)
    }

    // MARK: Opus's own redundancy

    @Test func `a lost Opus packet is decoded from the next one if that arrives in time`() throws {
        let encoder = try OpusEncoder(channelCount: 1, frameDuration: .milliseconds20, bitRate: 24_000)
        encoder.setExpectedLoss(percent: 20)
        let configuration = PlayoutConfiguration(
            coding: .opus, streamRate: 48_000, deviceRate: 48_000, channelCount: 1, framesPerPacket: 960, margin: 0.025)
        let playout = try Playout(configuration)
        let block = AudioBuffer(channelCount: 1, frameCapacity: 960)
        let start = HostTime(nanoseconds: 1_000_000_000)
        var (lost, a, b): (Int, Float, Float) = (0, 0, 0)
        for n in 0..<500 {
            for i in 0..<960 {
                let frame = n * 960 + i
                let pulse: Float = frame % 400 == 0 && frame % 12_000 < 9_000 ? 1 : 0
                let next = pulse + 1.96 * a - 0.968 * b
                (b, a) = (a, next)
                block.channels[0][i] = 0.02 * next
            }
            var packet = [UInt8](repeating: 0, count: 1_280)
            let count = try packet.withUnsafeMutableBytes { try encoder.encode(block.channels, into: $0) }
            let now = start.advanced(bySeconds: Double(n) * 0.020)
            let header = PacketHeader(
                sequence: n, position: n * 960, frameCount: 960, byteCount: count, arrival: now)
            if n % 10 == 7 {
                lost += 1
            } else {
                _ = packet.withUnsafeBytes {
                    playout.packets.push(header, payload: UnsafeRawBufferPointer(rebasing: $0[..<count]))
                }
            }
            for part in 0..<4 {
                playout.renderer.pull(
                    block.channels, frameCount: 240, sampleTime: Int64(n * 960 + part * 240),
                    hostTime: now.advanced(bySeconds: Double(part) * 0.005))
            }
        }
        let statistics = playout.statistics
        #expect(lost == 50 && statistics.recoveredPackets > 20)
        #expect(statistics.concealedFrames < (lost - 20) * 960)
    }
}
