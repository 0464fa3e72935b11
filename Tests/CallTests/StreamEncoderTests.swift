// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioCodecs
import EarshotMediaTransport
import TestSupport
import Testing

@testable import EarshotCall

/// The beginning of a shared encoder in the middle of a sound.
@Suite struct StreamEncoderTests {
    private static let block = 128

    /// Encodes blocks of a tone. Returns the payloads.
    @discardableResult
    private static func encode(_ blocks: Range<Int>, _ stream: StreamEncoder, isWanted: Bool = true) throws -> [[UInt8]]
    {
        let sound = AudioBuffer(channelCount: 1, frameCapacity: block)
        var payloads: [[UInt8]] = []
        for n in blocks {
            for i in 0..<block { sound.channels[0][i] = tone(n * block + i) }
            let captured = CapturedBlock(channels: sound.channels, frameCount: block, gap: 0)
            try stream.encode(captured, isWanted: isWanted) { payload, _, _ in payloads.append(Array(payload)) }
        }
        return payloads
    }

    private static func tone(_ frame: Int) -> Float { sine(frame + 120, frequency: 100, rate: 48_000, amplitude: 0.5) }

    private static func stream() throws -> StreamEncoder {
        try StreamEncoder(RepairRig.configuration(.opus, frames: 480, bitRate: 64_000))
    }

    @Test func `an encoder that begins again makes the payloads of a new one`() throws {
        let (paused, new) = (try Self.stream(), try Self.stream())
        try Self.encode(0..<100, paused)
        try Self.encode(100..<200, paused, isWanted: false)
        let expected = try Self.encode(200..<300, new)
        let payloads = try Self.encode(200..<300, paused)
        #expect(payloads == expected && payloads.count == 26)
    }

    @Test func `the first sound fades in for the listener, and not in the history`() throws {
        let stream = try Self.stream()
        let decoder = try OpusDecoder(channelCount: 1)
        let decoded = AudioBuffer(channelCount: 1, frameCapacity: 480)
        var heard: [Float] = []
        for payload in try Self.encode(0..<20, stream) {
            let count = payload.withUnsafeBufferPointer {
                decoder.renderer.decode(
                    $0.baseAddress, byteCount: $0.count, into: decoded.channels, offset: 0, frameCount: 480)
            }
            heard += UnsafeBufferPointer(start: decoded.channels[0], count: count)
        }
        // The codec delays the sound by 312 frames. The tone begins at its peak, and the fade is complete after 480 frames.
        let sound = Array(heard.dropFirst(312))
        try #require(sound.count > 1_000)
        #expect(sound[..<48].allSatisfy { abs($0) < 0.05 }, "\(sound[..<48].map { abs($0) }.max() ?? 1)")
        #expect(abs(sound[960] - Self.tone(960)) < 0.05)
        let first = stream.historyOffset(of: 0)
        #expect((0..<480).allSatisfy { stream.history[0][first + $0] == Self.tone($0) })
    }

    /// The tone begins softly before the gap, and is loud after it. Without the packets in between, energies that are coded as
    /// differences are wrong.
    @Test(arguments: [120, 240, 480, 960]) func `the first sound after a gap is not louder than the tone`(frames: Int)
        throws
    {
        let stream = try StreamEncoder(RepairRig.configuration(.opus, frames: frames, bitRate: 64_000))
        let decoder = try OpusDecoder(channelCount: 1)
        let decoded = AudioBuffer(channelCount: 1, frameCapacity: 960)
        let sound = AudioBuffer(channelCount: 1, frameCapacity: Self.block)
        var peak: Float = 0
        var packetCount = 0
        for n in 0..<200 {
            let gap = n == 100 ? 9_600 : 0
            for i in 0..<Self.block {
                let share = n < 100 ? min(1, Float(100 - n) / 4) : min(1, Float(n - 100 + 1) / 4)
                sound.channels[0][i] = Self.tone(n * Self.block + i) * 0.12 * share
            }
            if gap > 0 {
                for _ in 0..<3 { _ = decoder.renderer.conceal(into: decoded.channels, offset: 0, frameCount: frames) }
            }
            let captured = CapturedBlock(channels: sound.channels, frameCount: Self.block, gap: gap)
            try stream.encode(captured) { payload, _, _ in
                let count = decoder.renderer.decode(
                    payload.baseAddress?.assumingMemoryBound(to: UInt8.self), byteCount: payload.count,
                    into: decoded.channels, offset: 0, frameCount: frames)
                for i in 0..<count { peak = max(peak, abs(decoded.channels[0][i])) }
                packetCount += 1
            }
        }
        #expect(packetCount > 20)
        #expect(peak < 0.09, "the tone's peak is 0.06")
    }
}
