// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import Testing

@Suite struct AACPayloadTests {
    @Test(arguments: [1, 2, 185, 8_191])
    func oneUnitThereAndBack(size: Int) throws {
        let unit = (0..<size).map { UInt8(truncatingIfNeeded: $0) }
        var payload = [UInt8](repeating: 0, count: size + AACPayload.headerSize)
        let count = try write(unit, &payload)
        #expect(count == size + 4)
        #expect(payload.prefix(4) == [0, 16, UInt8(size >> 5), UInt8(size << 3 & 255)])
        let units = try units(payload)
        #expect(units.map(\.bytes) == [4..<4 + size] && units.map(\.frameOffset) == [0])
    }

    @Test func severalUnitsInAPacketAsFFmpegSends() throws {
        let sizes = [181, 190, 1, 186, 200, 175]
        let headers = sizes.flatMap { [UInt8($0 >> 5), UInt8($0 << 3 & 255)] }
        let payload = [0, UInt8(sizes.count * 16)] + headers + [UInt8](repeating: 5, count: sizes.reduce(0, +))
        let units = try units(payload)
        #expect(units.map(\.bytes.count) == sizes)
        #expect(units.map(\.frameOffset) == [0, 1_024, 2_048, 3_072, 4_096, 5_120])
        #expect(units.first?.bytes.lowerBound == 14 && units.last?.bytes.upperBound == payload.count)
        #expect(zip(units, units.dropFirst()).allSatisfy { $0.bytes.upperBound == $1.bytes.lowerBound })
    }

    @Test(
        arguments: [
            ([], AACPayloadError.tooShort(0)),
            ([0], .tooShort(1)),
            ([0, 0], .badHeaderLength(0)),
            ([0, 15, 0, 8, 1], .badHeaderLength(15)),
            ([0, 16], .badHeaderLength(16)),
            ([255, 240, 0, 8, 1], .badHeaderLength(65_520)),
            ([0, 16, 0, 0], .emptyUnit),
            ([0, 16, 0, 9, 1], .interleaved),
            ([0, 32, 0, 8, 0, 9, 1, 1], .interleaved),
            ([0, 16, 0, 32, 1, 2], .fragmented(size: 4, present: 2)),
            ([0, 16, 0, 8, 1, 2], .sizeMismatch(announced: 5, present: 6)),
            ([0, 32, 0, 8, 0, 16, 1, 2], .sizeMismatch(announced: 9, present: 8)),
        ] as [([UInt8], AACPayloadError)])
    func otherPayloadsAreErrors(payload: [UInt8], error: AACPayloadError) {
        #expect(throws: error) { try units(payload) }
    }

    @Test func unitsThatDoNotFitAreErrors() {
        var payload = [UInt8](repeating: 0, count: 9_000)
        #expect(throws: AACPayloadError.emptyUnit) { try write([], &payload) }
        #expect(throws: AACPayloadError.unitTooLarge(8_192)) {
            try write([UInt8](repeating: 0, count: 8_192), &payload)
        }
    }

    private func write(_ unit: [UInt8], _ payload: inout [UInt8]) throws -> Int {
        try unit.withUnsafeBytes { unit in
            try payload.withMutableRawSpan { try AACPayload.write(unit.bytes, into: &$0) }
        }
    }

    private func units(_ payload: [UInt8]) throws -> [AACPayload.Unit] {
        var units: [AACPayload.Unit] = []
        try AACPayload(parsing: payload.span.bytes).forEach { units.append($0) }
        return units
    }
}

@Suite struct OpusPayloadTests {
    /// RFC 6716 §3.1, table 2, in ticks of 48 kHz.
    @Test func frameSizesOfAllConfigurations() throws {
        let silk = [480, 960, 1_920, 2_880]
        let celt = [120, 240, 480, 960]
        let table = silk + silk + silk + [480, 960] + [480, 960] + celt + celt + celt + celt
        for (configuration, ticks) in table.enumerated() {
            let payload = try parse([UInt8(configuration << 3), 1, 2])
            #expect(payload.ticksPerFrame == ticks && payload.frameCount == 1, "configuration \(configuration)")
        }
    }

    @Test(
        arguments: [
            ([0xF8], 1, 960, false),
            ([0xFC], 1, 960, true),
            ([0xE0, 1], 1, 120, false),
            ([0xF9, 1, 2], 2, 1_920, false),
            ([0xFA, 1, 9, 8, 7], 2, 1_920, false),
            ([0xE3, 48] + [UInt8](repeating: 0, count: 48), 48, 5_760, false),
            ([0xE3, 0x82, 1, 9, 8, 7], 2, 240, false),
            ([0xE3, 0x42, 2, 9, 8, 0, 0], 2, 240, false),
        ] as [([UInt8], Int, Int, Bool)])
    func lengthsOfWholePackets(bytes: [UInt8], frames: Int, ticks: Int, stereo: Bool) throws {
        let payload = try parse(bytes)
        #expect(payload.frameCount == frames && payload.ticks == ticks && payload.isStereo == stereo)
    }

    @Test(
        arguments: [
            ([], OpusPayloadError.empty),
            ([0xF9, 1], .badFrameSizes),  // R3: odd
            ([0xFA, 5, 1], .badFrameSizes),  // R4
            ([0xFA], .badFrameSizes),
            ([0xFB], .badFrameSizes),  // R6, R7
            ([0xFB, 0], .badDuration(ticks: 0)),
            ([0xFB, 7] + [UInt8](repeating: 0, count: 7), .badDuration(ticks: 6_720)),  // R5: 140 ms
            ([0xFB, 0x42, 255, 255], .badFrameSizes),
            ([0xFB, 2, 1], .badFrameSizes),
            ([0xFB, 0x82, 9, 1], .badFrameSizes),
            ([0xF8] + [UInt8](repeating: 0, count: 1_276), .frameTooLarge),  // R2
        ] as [([UInt8], OpusPayloadError)])
    func otherBytesAreErrors(bytes: [UInt8], error: OpusPayloadError) {
        #expect(throws: error) { try parse(bytes) }
    }

    private func parse(_ bytes: [UInt8]) throws -> OpusPayload {
        try bytes.withUnsafeBytes { try OpusPayload(parsing: $0.bytes) }
    }
}

@Suite struct PCMPayloadTests {
    @Test(arguments: [1, 2, 3, 32], [0, 1, 63, 64, 128, 255, 256, 299, 300, 301, 599, 600, 601, 1_024, 4_096, 4_097])
    func splitIsEvenWholeAndSmallEnough(channels: Int, frames: Int) {
        let split = PCMPayload.split(frameCount: frames, channelCount: channels)
        let counts = split.map(\.count)
        #expect(counts.reduce(0, +) == frames)
        #expect(zip(split, split.dropFirst()).allSatisfy { $0.upperBound == $1.lowerBound })
        #expect(counts.allSatisfy { $0 > 0 && $0 * channels * 2 <= 1_200 })
        #expect((counts.max() ?? 0) - (counts.min() ?? 0) <= 1)
        #expect(counts.count == (frames * channels * 2 + 1_199) / 1_200 || channels > 2, "as few as can be")
    }

    @Test func blocksOfACallSplitAsExpected() {
        #expect(PCMPayload.split(frameCount: 64, channelCount: 1).map(\.count) == [64])
        #expect(PCMPayload.split(frameCount: 1_024, channelCount: 1).map(\.count) == [512, 512])
        #expect(PCMPayload.split(frameCount: 1_024, channelCount: 2).map(\.count) == [256, 256, 256, 256])
    }

    @Test func onlyWholeFramesAreL16() throws {
        #expect(try PCMPayload.frameCount(payloadSize: 1_200, channelCount: 2) == 300)
        #expect(throws: PCMPayloadError.partialFrame(size: 6, channelCount: 2)) {
            try PCMPayload.frameCount(payloadSize: 6, channelCount: 2)
        }
        #expect(throws: PCMPayloadError.self) { try PCMPayload.frameCount(payloadSize: 0, channelCount: 1) }
    }
}
