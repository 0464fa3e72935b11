// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioFiles
import Testing

@Suite struct MP3FramesTests {
    /// Encodes a second of a tone. Returns the frames and the bytes that contain them.
    private func frames(_ rate: Double, _ bitRate: MP3Encoder.BitRate, block: Int) throws -> ([[UInt8]], [UInt8]) {
        let encoder = try MP3Encoder(sampleRate: rate, channelCount: 1, bitRate: bitRate, hasHeader: false)
        let buffer = AudioBuffer(channelCount: 1, frameCapacity: Int(rate))
        for i in 0..<Int(rate) { buffer.channels[0][i] = 0.5 * Float((i * 440 * 2 / Int(rate)) % 2) }
        var (cutter, found, all) = (MP3Frames(), [[UInt8]](), [UInt8]())
        func take(_ bytes: UnsafeRawBufferPointer) {
            all += bytes
            cutter.append(bytes)
            while let frame = cutter.next() { found.append(frame) }
        }
        for start in stride(from: 0, to: Int(rate), by: block) {
            take(try encoder.encode(buffer.channels, frameCount: min(block, Int(rate) - start), offset: start))
        }
        take(try encoder.flush())
        return (found, all)
    }

    @Test(arguments: [48_000.0, 44_100, 16_000, 8_000], [MP3Encoder.BitRate.constant(64), .variable(2)])
    func `a stream is split completely into frames`(rate: Double, bitRate: MP3Encoder.BitRate) throws {
        for block in [1_152, 576, 333] {
            let (found, all) = try frames(rate, bitRate, block: block)
            #expect(found.flatMap { $0 } == all)
            let length = rate >= 32_000 ? 1_152 : 576
            let wanted = (Int(rate) + 1_105 + length - 1) / length
            #expect((0...2).contains(found.count - wanted), "\(block): \(found.count)")
        }
    }
}
