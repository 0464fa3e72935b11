// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import Testing

@Suite struct OpusCustomPayloadTests {
    private func parse(_ bytes: [UInt8]) throws -> OpusCustomPayload {
        try bytes.withUnsafeBytes { try OpusCustomPayload(parsing: $0.bytes) }
    }
    private func payload(_ count: UInt8, _ size: Int) -> [UInt8] { [count] + [UInt8](repeating: 7, count: size) }

    @Test(arguments: [(1, 8, 64), (1, 1_199, 64), (2, 54, 128), (4, 108, 256), (16, 432, 1_024), (64, 512, 4_096)])
    func `frames of equal size follow their count`(count: Int, size: Int, ticks: Int) throws {
        let payload = try parse(payload(UInt8(count), size))
        #expect(payload.frameCount == count && payload.frameSize == size / count && payload.ticks == ticks)
    }

    @Test(
        arguments: [
            ([], OpusCustomPayloadError.tooShort(0)),
            ([1], .tooShort(1)),
            ([0, 1, 2, 3, 4, 5, 6, 7, 8], .badFrameCount(0)),
            ([65] + [UInt8](repeating: 0, count: 65 * 8), .badFrameCount(65)),
            ([255] + [UInt8](repeating: 0, count: 255 * 8), .badFrameCount(255)),
            ([1, 1, 2, 3, 4, 5, 6, 7], .badFrameSizes(size: 7, frameCount: 1)),
            ([2] + [UInt8](repeating: 0, count: 55), .badFrameSizes(size: 55, frameCount: 2)),
            ([64] + [UInt8](repeating: 0, count: 64 * 7), .badFrameSizes(size: 448, frameCount: 64)),
            ([1] + [UInt8](repeating: 0, count: 1_200), .badFrameSizes(size: 1_200, frameCount: 1)),
        ] as [([UInt8], OpusCustomPayloadError)])
    func `an invalid payload is an error that names the problem`(bytes: [UInt8], error: OpusCustomPayloadError) {
        #expect(throws: error) { try parse(bytes) }
        #expect(error.description.contains("Opus Custom"))
    }

    @Test(arguments: [0, 1, 2, 4, 16, 63, 64, 65, 128], [8, 27, 54, 85, 600, 1_199])
    func `a split is even and complete, and each of its packets can be parsed`(frames: Int, size: Int) throws {
        let split = OpusCustomPayload.split(frameCount: frames, frameSize: size)
        #expect(split.map(\.count).reduce(0, +) == frames)
        #expect(zip(split, split.dropFirst()).allSatisfy { $0.upperBound == $1.lowerBound })
        for packet in split {
            let bytes = payload(UInt8(packet.count), packet.count * size)
            #expect(bytes.count <= 1_200)
            #expect(try parse(bytes).frameCount == packet.count)
        }
        #expect((split.map(\.count).max() ?? 0) - (split.map(\.count).min() ?? 0) <= 1)
    }

    @Test func `a format states its rate, channels and frame size, and another frame size is unsupported`() {
        let format = MediaFormat.opusCustom(sampleRate: 48_000, channelCount: 2, bitRate: 200_000)
        #expect(format.description == "opus-custom/48000/2" && format.codec == .opusCustom)
        #expect(format.parameter("frame") == "64" && format.parameter("maxaveragebitrate") == "200000")
        var other = format
        other.parameters = [.init("frame", "128")]
        #expect(other.codec == nil && !format.matches(other))
        other.parameters = []
        #expect(other.codec == nil)
        for (rate, channels) in [(96_000, 1), (48_001, 1), (48_000, 3), (0, 1)] {
            #expect(MediaFormat.opusCustom(sampleRate: rate, channelCount: channels).codec == nil)
        }
        #expect(!format.matches(.opusCustom(sampleRate: 48_000)))
        #expect(!format.matches(.opusCustom(sampleRate: 44_100, channelCount: 2)))
    }
}
