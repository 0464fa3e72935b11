// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioCodecs
import Testing

@Suite("PCMCodec") struct PCMCodecTests {
    private func encode(_ signals: [[Float]], offset: Int = 0) -> [UInt8] {
        let buffer = AudioBuffer(signals)
        let frames = signals[0].count - offset
        var bytes = [UInt8](repeating: 0xEE, count: frames * signals.count * 2 + 1)
        let count = PCMCodec.encode(buffer.channels, offset: offset, frameCount: frames, into: &bytes)
        #expect(count == frames * signals.count * 2)
        #expect(bytes[count] == 0xEE)
        return Array(bytes[..<count])
    }

    @Test("every 16-bit value survives a round trip bit for bit", arguments: [1, 2, 3])
    func exact(_ channelCount: Int) {
        let frames = 65_536
        var bytes: [UInt8] = []
        for i in 0..<frames {
            for c in 0..<channelCount {
                let value = UInt16(truncatingIfNeeded: i &* (2 * c + 1))
                bytes += [UInt8(value >> 8), UInt8(value & 255)]
            }
        }
        let buffer = AudioBuffer(channelCount: channelCount, frameCapacity: frames)
        let count = PCMCodec.decode(
            bytes, byteCount: bytes.count, channelCount: channelCount, into: buffer.channels, offset: 0)
        #expect(count == frames)
        #expect(buffer.channels[0][1] == Float(1) / 32_768)
        #expect(encode((0..<channelCount).map(buffer.samples)) == bytes)
    }

    @Test("samples are rounded to nearest and clamped, and NaN becomes silence")
    func edges() {
        let unit: Float = 1 / 32_768
        let values: [Float] = [
            0, 0.49 * unit, 0.51 * unit, -0.49 * unit, -0.51 * unit, 1, -1, 7, -7, .infinity, -.infinity, .nan,
        ]
        let expected: [Int16] = [0, 0, 1, 0, -1, 32_767, -32_768, 32_767, -32_768, 32_767, -32_768, 0]
        #expect(
            encode([values])
                == expected.flatMap { [UInt8(truncatingIfNeeded: $0 >> 8), UInt8(truncatingIfNeeded: $0)] })
    }

    @Test("noise at half scale keeps the signal-to-noise ratio of 16 bits", arguments: [1, 7, 64, 470, 4_097])
    func noise(_ frames: Int) {
        let said = Signals.noise(frames)
        let bytes = encode([said])
        let heard = AudioBuffer(channelCount: 1, frameCapacity: frames)
        _ = PCMCodec.decode(bytes, byteCount: bytes.count, channelCount: 1, into: heard.channels, offset: 0)
        // Uniform ±0.5 has −10.8 dB, and rounding to 2^-15 −101.1 dB; a single sample's error can be half a step.
        #expect(Signals.ratio(heard.samples(0)[...], said[...]) > (frames > 64 ? 89 : 40))
    }

    @Test("channel order and offsets are respected, and other samples are left untouched")
    func order() {
        let bytes = encode([[9, 0.25, 0.5], [9, -0.25, -0.5]], offset: 1)
        #expect(bytes == [0x20, 0, 0xE0, 0, 0x40, 0, 0xC0, 0])
        let buffer = AudioBuffer([[7, 7, 7], [7, 7, 7], [7, 7, 7]])
        let frames = PCMCodec.decode(bytes, byteCount: 8, channelCount: 2, into: buffer.channels, offset: 1)
        #expect(frames == 2)
        #expect(buffer.samples(0) == [7, 0.25, 0.5])
        #expect(buffer.samples(1) == [7, -0.25, -0.5])
        #expect(buffer.samples(2) == [7, 7, 7])
        let one = AudioBuffer([[7, 7, 7]])
        #expect(PCMCodec.decode(bytes, byteCount: 8, channelCount: 2, into: one.channels, offset: 0) == 2)
        #expect(one.samples(0) == [0.25, 0.5, 7])
    }

    @Test("trailing bytes of an incomplete frame are ignored", arguments: 0...9)
    func truncated(_ byteCount: Int) {
        let bytes = [UInt8](repeating: 1, count: 9)
        let buffer = AudioBuffer([[7, 7, 7], [7, 7, 7]])
        let frames = PCMCodec.decode(bytes, byteCount: byteCount, channelCount: 2, into: buffer.channels, offset: 0)
        #expect(frames == byteCount / 4)
        #expect(buffer.channels[0][frames] == 7)
        #expect(PCMCodec.decode(bytes, byteCount: byteCount, channelCount: 0, into: buffer.channels, offset: 0) == 0)
    }
}
