// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioCodecs
import TestSupport
import Testing

@testable import EarshotPlayout

/// Opus packets that replace PCM when the network carries less.
@Suite struct OpusReserveTests {
    /// Plays a sine: a second of PCM, a second of Opus, a second of PCM, in packets of 480 frames.
    private func play(hasReserve: Bool) throws -> (output: [Float], statistics: PlayoutStatistics) {
        let configuration = PlayoutConfiguration(
            coding: .pcm, streamRate: 48_000, deviceRate: 48_000, channelCount: 1, framesPerPacket: 480,
            fallback: hasReserve ? .opus : nil)
        let playout = try Playout(configuration)
        let encoder = try OpusEncoder(channelCount: 1, frameDuration: .milliseconds10, bitRate: 64_000)
        let block = AudioBuffer(channelCount: 1, frameCapacity: 480)
        let start = HostTime(nanoseconds: 1_000_000_000)
        var output: [Float] = []
        for n in 0..<300 {
            for i in 0..<480 { block.channels[0][i] = sine(n * 480 + i, frequency: 440, rate: 48_000) }
            let isFallbackCodec = (100..<200).contains(n)
            var packet = [UInt8](repeating: 0, count: 1_216)
            let opusCount = try packet.withUnsafeMutableBytes { try encoder.encode(block.channels, into: $0) }
            let count = isFallbackCodec ? opusCount : 960
            if !isFallbackCodec {
                packet.withUnsafeMutableBytes {
                    _ = PCMCodec.encode(
                        block.channels, offset: 0, frameCount: 480,
                        into: $0.baseAddress!.assumingMemoryBound(to: UInt8.self))
                }
            }
            let now = start.advanced(bySeconds: Double(n) * 0.010)
            var header = PacketHeader(
                sequence: n, position: n * 480, frameCount: 480, byteCount: count, arrival: now)
            header.isFallbackCodec = isFallbackCodec
            _ = packet.withUnsafeBytes {
                playout.packets.push(header, payload: UnsafeRawBufferPointer(rebasing: $0[..<count]))
            }
            playout.renderer.pull(block.channels, frameCount: 480, sampleTime: Int64(n * 480), hostTime: now)
            output += UnsafeBufferPointer(start: block.channels[0], count: 480)
        }
        return (output, playout.statistics)
    }

    @Test func `Opus plays in place of PCM as the fallback codec`() throws {
        let r = try play(hasReserve: true)
        #expect(r.statistics.concealedFrames == 0 && r.statistics.glitches == 0)
        let settled = Array(r.output[(110 * 480)..<(190 * 480)])
        let defect = sineDefect(settled, frequency: 440, rate: 48_000)
        #expect(defect < -20, "\(defect)")
        #expect(sineDefect(Array(r.output[(220 * 480)...]), frequency: 440, rate: 48_000) < -60)
    }

    @Test func `without a fallback codec an Opus packet is concealed, and not decoded as Opus or PCM`() throws {
        let r = try play(hasReserve: false)
        // Three seconds would pass until the background ends.
        #expect(r.output[(110 * 480)..<(190 * 480)].allSatisfy { abs($0) < 0.01 })
        #expect(r.statistics.concealedFrames >= 90 * 480 && r.statistics.glitches > 0)
    }
}
