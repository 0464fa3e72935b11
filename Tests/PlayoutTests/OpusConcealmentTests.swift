// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioCodecs
import TestSupport
import Testing

@testable import EarshotPlayout

/// Tests Opus's concealment of lost packets.
@Suite struct OpusConcealmentTests {
    @Test func `a vowel continues in phase while a packet is missing`() throws {
        let encoder = try OpusEncoder(channelCount: 1, frameDuration: .milliseconds20, bitRate: 24_000)
        let playout = try Playout(
            PlayoutConfiguration(
                coding: .opus, streamRate: 48_000, deviceRate: 48_000, channelCount: 1, framesPerPacket: 960))
        let block = AudioBuffer(channelCount: 1, frameCapacity: 960)
        let start = HostTime(nanoseconds: 1_000_000_000)
        var heard: [Float] = []
        var (a, b): (Float, Float) = (0, 0)
        for n in 0..<300 {
            for i in 0..<960 {
                let next = ((n * 960 + i) % 400 == 0 ? 1 : 0) + 1.96 * a - 0.968 * b
                (b, a) = (a, next)
                block.channels[0][i] = 0.02 * next
            }
            var packet = [UInt8](repeating: 0, count: 1_280)
            let count = try packet.withUnsafeMutableBytes { try encoder.encode(block.channels, into: $0) }
            let now = start.advanced(bySeconds: Double(n) * 0.020)
            let header = PacketHeader(
                sequence: n, position: n * 960, frameCount: 960, byteCount: count, arrival: now)
            if n % 10 != 7 {
                _ = packet.withUnsafeBytes {
                    playout.packets.push(header, payload: UnsafeRawBufferPointer(rebasing: $0[..<count]))
                }
            }
            for part in 0..<4 {
                playout.renderer.pull(
                    block.channels, frameCount: 240, sampleTime: Int64(n * 960 + part * 240),
                    hostTime: now.advanced(bySeconds: Double(part) * 0.005))
                heard += UnsafeBufferPointer(start: block.channels[0], count: 240)
            }
        }
        #expect(playout.statistics.concealedFrames >= 25 * 960 && playout.statistics.latePackets == 0)
        // Each 10 ms equal those two periods before.
        let worst = stride(from: 100 * 960, to: heard.count - 480, by: 240).map { at in
            var (both, now, then) = (Float(0), Float(1e-12), Float(1e-12))
            for i in at..<at + 480 {
                both += heard[i] * heard[i - 800]
                now += heard[i] * heard[i]
                then += heard[i - 800] * heard[i - 800]
            }
            return both / (now * then).squareRoot()
        }.min()
        #expect(try #require(worst) > 0.9)
    }

    /// The transform coder conceals with noise after five lost frames.
    @Test(arguments: [120, 240, 480, 960])
    func `a tone ends without a click when its packets do`(length: Int) throws {
        let duration = try #require(OpusFrameDuration(rawValue: length))
        let encoder = try OpusEncoder(channelCount: 1, frameDuration: duration, bitRate: 64_000)
        let playout = try Playout(
            PlayoutConfiguration(
                coding: .opus, streamRate: 48_000, deviceRate: 48_000, channelCount: 1, framesPerPacket: length))
        let block = AudioBuffer(channelCount: 1, frameCapacity: 960)
        let start = HostTime(nanoseconds: 1_000_000_000)
        var heard: [Float] = []
        let end = 24_000 / length
        for n in 0..<2 * end {
            for i in 0..<length {
                block.channels[0][i] = sine(n * length + i, frequency: 100, rate: 48_000, amplitude: 0.06)
            }
            var packet = [UInt8](repeating: 0, count: 1_280)
            let count = try packet.withUnsafeMutableBytes { try encoder.encode(block.channels, into: $0) }
            let now = start.advanced(bySeconds: Double(n * length) / 48_000)
            let header = PacketHeader(
                sequence: n, position: n * length, frameCount: length, byteCount: count, arrival: now)
            if n < end {
                _ = packet.withUnsafeBytes {
                    playout.packets.push(header, payload: UnsafeRawBufferPointer(rebasing: $0[..<count]))
                }
            }
            playout.renderer.pull(
                block.channels, frameCount: length, sampleTime: Int64(n * length), hostTime: now)
            heard += UnsafeBufferPointer(start: block.channels[0], count: length)
        }
        #expect(playout.statistics.concealedFrames > 20_000)
        let roughness = Self.roughness(heard[19_998...])
        #expect(roughness < 0.001, "\(roughness)")
    }

    /// The hybrid coder conceals its upper bands by noise, which is too loud after the first packets.
    @Test func `a tone whose packets end soon after they began ends without noise`() throws {
        var rig = try OpusRig(.milliseconds20, bitRate: 24_000)
        rig.run(50) { n, packet in packet[0] >> 3 == 15 && n < 2 }
        #expect(rig.playout.statistics.packets == 2)
        let roughness = Self.roughness(rig.heard[(2 * 960 + 100)...])
        #expect(roughness < 0.001, "\(roughness)")
    }

    /// The transform coder gives up a concealment with an abrupt silence if the sound before it had become much quieter.
    @Test func `a tone that fades out before its packets end does not end with a step`() throws {
        for fade in stride(from: 120, through: 960, by: 120) {
            for quiet in stride(from: 0, through: 720, by: 40) {
                var rig = try OpusRig(.microseconds2500, bitRate: 64_000)
                rig.amplitude = { 0.06 * max(0, min(1, Double(24_000 - quiet - $0) / Double(fade))) }
                rig.run(220) { n, _ in n < 200 }
                let roughness = Self.roughness(rig.heard[23_998...])
                #expect(roughness < 0.001, "\(fade) \(quiet) \(roughness)")
            }
        }
    }

    /// The decoder's state has the noise of a concealment, also of one that is not played.
    @Test func `a tone goes on without noise after a lost packet soon after it began`() throws {
        var rig = try OpusRig(.milliseconds20, bitRate: 24_000)
        var modes: [UInt8] = []
        rig.run(50) { n, packet in
            modes.append(packet[0] >> 3)
            return n != 2
        }
        #expect(modes[..<4].allSatisfy { $0 == 15 } && rig.playout.statistics.concealedFrames > 0)
        let roughness = Self.roughness(rig.heard[(2 * 960 + 100)...])
        #expect(roughness < 0.001, "\(roughness)")
    }

    /// The decoder does not get the packets that arrive while nobody pulls. With the state of the loud tone it would make the quiet
    /// one louder.
    @Test(arguments: [OpusFrameDuration.microseconds2500, .milliseconds5, .milliseconds10])
    func `after a gap in the pulls a quiet tone is not as loud as the sound before it`(duration: OpusFrameDuration)
        throws
    {
        var rig = try OpusRig(duration, bitRate: 64_000)
        rig.amplitude = { $0 < 24_000 ? 0.06 : 0.002 }
        rig.isPulling = { !(20_000..<36_000).contains($0) }
        rig.run(72_000 / duration.frameCount) { _, _ in true }
        // The crossfade with the sound before the gap ends after 60 frames.
        let length = duration.frameCount
        let pulledFrames = (20_000 + length - 1) / length * length
        let peak = rig.heard[(pulledFrames + 120)...].map { abs($0) }.max() ?? 1
        #expect(peak < 0.012, "\(peak), where the loud tone had 0.06")
    }

    /// The gap is shorter than a packet, and its end is known only while a whole packet is concealed. The sender's encoder begins
    /// anew after the gap.
    @Test(arguments: [60, 256]) func `a packet that joins the middle of the concealment does not click`(length: Int)
        throws
    {
        let (before, after) = (
            try OpusEncoder(channelCount: 1, frameDuration: .milliseconds10, bitRate: 64_000),
            try OpusEncoder(channelCount: 1, frameDuration: .milliseconds10, bitRate: 64_000)
        )
        let playout = try Playout(
            PlayoutConfiguration(
                coding: .opus, streamRate: 48_000, deviceRate: 48_000, channelCount: 1, framesPerPacket: 480))
        let block = AudioBuffer(channelCount: 1, frameCapacity: 480)
        let start = HostTime(nanoseconds: 1_000_000_000)
        var heard: [Float] = []
        for n in 0..<100 {
            let position = n < 50 ? n * 480 : n * 480 + 360
            for i in 0..<480 {
                let share = n == 50 ? Float(i) / 480 : 1
                let tone = sine(position + i, frequency: 100, rate: 48_000, amplitude: 0.06)
                block.channels[0][i] = share * tone
            }
            var packet = [UInt8](repeating: 0, count: 1_280)
            let encoder = n < 50 ? before : after
            let count = try packet.withUnsafeMutableBytes { try encoder.encode(block.channels, into: $0) }
            let arrival = start.advanced(bySeconds: Double(position + 480) / 48_000)
            let header = PacketHeader(
                sequence: n, position: position, frameCount: 480, byteCount: count, arrival: arrival)
            while start.advanced(bySeconds: Double(heard.count) / 48_000) < arrival {
                playout.renderer.pull(
                    block.channels, frameCount: length, sampleTime: Int64(heard.count),
                    hostTime: start.advanced(bySeconds: Double(heard.count) / 48_000))
                heard += UnsafeBufferPointer(start: block.channels[0], count: length)
            }
            _ = packet.withUnsafeBytes {
                playout.packets.push(header, payload: UnsafeRawBufferPointer(rebasing: $0[..<count]))
            }
        }
        #expect(playout.statistics.concealedFrames > 300)
        let roughness = Self.roughness(heard[19_998...])
        #expect(roughness < 0.003, "\(roughness)")
    }

    /// Returns the greatest second difference. That of the tones here is 0.00001; that of noise and of steps is about as large as they
    /// are.
    private static func roughness(_ sound: ArraySlice<Float>) -> Float {
        var largest: Float = 0
        for i in sound.indices.dropFirst(2) {
            let (before, after) = (sound[i - 1] - sound[i - 2], sound[i] - sound[i - 1])
            largest = max(largest, abs(after - before))
        }
        return largest
    }
}

/// A playout of the packets of an encoder that is given a tone, pulled packet by packet.
private struct OpusRig {
    let playout: Playout
    private let encoder: OpusEncoder
    private let length: Int
    private(set) var heard: [Float] = []
    /// The tone's amplitude at a frame.
    var amplitude: (Int) -> Double = { _ in 0.06 }
    /// True if the device pulls at a frame.
    var isPulling: (Int) -> Bool = { _ in true }

    init(_ duration: OpusFrameDuration, bitRate: Int) throws {
        length = duration.frameCount
        encoder = try OpusEncoder(channelCount: 1, frameDuration: duration, bitRate: bitRate)
        playout = try Playout(
            PlayoutConfiguration(
                coding: .opus, streamRate: 48_000, deviceRate: 48_000, channelCount: 1, framesPerPacket: length))
    }

    /// Sends packets, unless a closure says that the network loses them, and pulls as many frames.
    mutating func run(_ packetCount: Int, arrives: (_ number: Int, _ packet: [UInt8]) -> Bool) {
        let block = AudioBuffer(channelCount: 1, frameCapacity: length)
        let start = HostTime(nanoseconds: 1_000_000_000)
        for n in 0..<packetCount {
            for i in 0..<length {
                let frame = n * length + i
                block.channels[0][i] = sine(frame, frequency: 100, rate: 48_000, amplitude: amplitude(frame))
            }
            var packet = [UInt8](repeating: 0, count: 1_280)
            let count = (try? packet.withUnsafeMutableBytes { try encoder.encode(block.channels, into: $0) }) ?? 0
            let now = start.advanced(bySeconds: Double(n * length) / 48_000)
            let header = PacketHeader(
                sequence: n, position: n * length, frameCount: length, byteCount: count, arrival: now)
            if arrives(n, packet) {
                _ = packet.withUnsafeBytes {
                    playout.packets.push(header, payload: UnsafeRawBufferPointer(rebasing: $0[..<count]))
                }
            }
            guard isPulling(n * length) else { continue }
            playout.renderer.pull(
                block.channels, frameCount: length, sampleTime: Int64(n * length), hostTime: now)
            heard += UnsafeBufferPointer(start: block.channels[0], count: length)
        }
    }
}
