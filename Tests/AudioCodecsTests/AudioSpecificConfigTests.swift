// SPDX-License-Identifier: Apache-2.0

import EarshotAudioCodecs
import Testing

@Suite("AudioSpecificConfig") struct AudioSpecificConfigTests {
    @Test(
        "configurations written by other programs are parsed",
        arguments: [
            ([0x11, 0x90, 0x56, 0xE5, 0], 48_000.0, 2), ([0x12, 0x08], 44_100, 1), ([0x12, 0x90], 32_000, 2),
        ]
            as [([UInt8], Double, Int)])
    func read(_ bytes: [UInt8], rate: Double, channels: Int) throws {
        let configuration = try AudioSpecificConfig(bytes: bytes)
        #expect(configuration.sampleRate == rate)
        #expect(configuration.channelCount == channels)
        #expect(throws: Never.self) { try AACDecoder(audioSpecificConfig: bytes) }
    }

    @Test("our own encoder's configuration is parsed", arguments: AACEncoder.sampleRates, [1, 2])
    func own(_ rate: Double, channels: Int) throws {
        let encoder = try AACEncoder(sampleRate: rate, channelCount: channels, bitRate: 64_000)
        let configuration = try AudioSpecificConfig(bytes: encoder.audioSpecificConfig)
        #expect(configuration.sampleRate == rate)
        #expect(configuration.channelCount == channels)
    }

    @Test(
        "anything but mono or stereo AAC-LC with 1,024 frames per packet is rejected",
        arguments: [
            [], [0x12], [0x2B, 0x92, 0x08, 0x00], [0x12, 0x00], [0x12, 0x18], [0x12, 0x0C], [0x13, 0x90],
            [0x17, 0x88], [0x0A, 0x08], [0xFF, 0xFF], [UInt8](repeating: 0x12, count: 65),
        ] as [[UInt8]])
    func refused(_ bytes: [UInt8]) {
        #expect(throws: CodecError.self) { try AudioSpecificConfig(bytes: bytes) }
        #expect(throws: CodecError.self) { try AACDecoder(audioSpecificConfig: bytes) }
    }

    @Test("arbitrary bytes trap neither the parser nor the decoder")
    func garbage() {
        var generator = SplitMix(state: 1)
        for _ in 0..<5_000 {
            var bytes = (0..<Int.random(in: 0...12, using: &generator)).map { _ in
                UInt8.random(in: 0...255, using: &generator)
            }
            if bytes.count >= 2 { bytes[0] = 0x10 | bytes[0] & 7 }
            _ = try? AACDecoder(audioSpecificConfig: bytes)
        }
    }
}
