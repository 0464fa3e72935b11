// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import EarshotMediaTransport

@Suite struct REDPayloadTests {
    /// RFC 2198 §4's layout: F, type, 14 bits of offset, 10 of length; the last header is a byte.
    private let example: [UInt8] = [
        0x80 | 5, 0x05, 0x00, 0x04,  // type 5, 320 ticks earlier, 4 bytes
        0x80 | 5, 0x02, 0x80, 0x03,  // 160 ticks earlier, 3 bytes
        5, 1, 2, 3, 4, 5, 6, 7, 8, 9,
    ]

    private func parse(_ bytes: [UInt8]) throws -> [REDPayload.Block] {
        let payload = try REDPayload(parsing: bytes.span.bytes)
        var blocks: [REDPayload.Block] = []
        payload.forEachEarlier { blocks.append($0) }
        #expect(blocks.count == payload.earlierCount)
        return blocks + [payload.own]
    }

    private func write(_ earlier: [(age: Int, bytes: [UInt8])], own: [UInt8], room: Int = 4_096) throws -> [UInt8] {
        var payload = [UInt8](repeating: 0xAA, count: room)
        let all = earlier.flatMap(\.bytes)
        let count = try all.withUnsafeBytes { all in
            var at = 0
            let blocks = earlier.map { block in
                defer { at += block.bytes.count }
                return REDPayload.RedundantBlock(
                    age: block.age, bytes: UnsafeRawBufferPointer(rebasing: all[at..<at + block.bytes.count]))
            }
            return try own.withUnsafeBytes { own in
                try payload.withMutableRawSpan {
                    try REDPayload.write(blocks, own: own.bytes, payloadType: 5, into: &$0)
                }
            }
        }
        return Array(payload.prefix(count))
    }

    @Test func `blocks are located according to their headers`() throws {
        let blocks = try parse(example)
        #expect(blocks.map(\.age) == [320, 160, 0] && blocks.map(\.payloadType) == [5, 5, 5])
        #expect(blocks.map(\.bytes) == [9..<13, 13..<16, 16..<18])
    }

    @Test func `a payload is laid out like the example in the RFC`() throws {
        #expect(try write([(320, [1, 2, 3, 4]), (160, [5, 6, 7])], own: [8, 9]) == example)
        #expect(try write([], own: [8, 9]) == [5, 8, 9])
    }

    @Test(arguments: [(0, 0), (1, 1), (16_383, 1_023), (255, 256), (256, 255), (16_128, 768)])
    func `ages and lengths survive writing and parsing`(age: Int, size: Int) throws {
        let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0) }
        let payload = try write([(age, bytes)], own: [7])
        let blocks = try parse(payload)
        #expect(blocks.map(\.age) == [age, 0] && Array(payload[blocks[0].bytes]) == bytes)
        #expect(Array(payload[blocks[1].bytes]) == [7])
    }

    @Test(arguments: [(16_384, 1), (-1, 1), (1, 1_024)]) func `blocks that do not fit are rejected`(age: Int, size: Int)
    {
        let bytes = [UInt8](repeating: 0, count: size)
        #expect(throws: REDPayloadError.blockDoesNotFit(age: age, size: size)) { try write([(age, bytes)], own: [7]) }
        #expect(throws: REDPayloadError.cutBlock(announced: 1_029, present: 1_028)) {
            try write([(1, [UInt8](repeating: 0, count: 1_023))], own: [7], room: 1_028)
        }
        #expect(throws: REDPayloadError.tooManyBlocks) {
            try write(Array(repeating: (age: 1, bytes: [1]), count: 17), own: [7])
        }
    }

    @Test(
        arguments: [
            ([], REDPayloadError.cutHeader),
            ([0x85], .cutHeader),
            ([0x85, 0, 0], .cutHeader),
            ([0x85, 0, 0, 0], .cutHeader),  // no header of the packet's own
            ([0x85, 0, 0, 1, 5], .cutBlock(announced: 1, present: 0)),
            ([0x85, 0, 3, 0xFF, 5, 1, 2], .cutBlock(announced: 1_023, present: 2)),
            ([0x85, 0, 0, 1, 0x85, 0, 0, 2, 5, 1, 2], .cutBlock(announced: 3, present: 2)),
        ] as [([UInt8], REDPayloadError)])
    func `inconsistent lengths are errors`(bytes: [UInt8], error: REDPayloadError) {
        #expect(throws: error) { try parse(bytes) }
    }

    @Test func `a packet that consists of headers only is an error`() {
        let headers = (0..<17).flatMap { _ -> [UInt8] in [0x85, 0, 0, 0] }
        #expect(throws: REDPayloadError.tooManyBlocks) { try parse(headers + [5]) }
        #expect(throws: REDPayloadError.cutHeader) { try parse(Array(repeating: 0xFF, count: 3)) }
    }

    @Test func `random bytes parse to blocks within bounds, or to an error`() {
        var random = SeededRandom(seed: 7)
        var read = 0
        for _ in 0..<100_000 {
            let bytes = mutated(example, &random)
            guard let blocks = try? parse(bytes) else { continue }
            read += 1
            #expect(blocks.last?.age == 0 && blocks.last?.bytes.upperBound == bytes.count)
            #expect(zip(blocks, blocks.dropFirst()).allSatisfy { $0.bytes.upperBound == $1.bytes.lowerBound })
            #expect(blocks.allSatisfy { $0.payloadType < 128 && (0...REDPayload.maximumAge).contains($0.age) })
        }
        #expect(read > 1_000)
    }
}
