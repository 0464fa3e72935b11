// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Testing

@testable import EarshotPlayout

/// The address sanitizer also runs these: only it detects an access beyond the buffer's memory.
struct JitterBufferTests {
    private static let capacity = 8

    private func header(_ sequence: Int, byteCount: Int = 16) -> PacketHeader {
        PacketHeader(
            sequence: sequence, position: sequence * 128, frameCount: 128, byteCount: byteCount,
            arrival: HostTime(nanoseconds: 0))
    }

    private func insert(_ sequences: some Sequence<Int>, into buffer: inout JitterBuffer) {
        var payload = [UInt8](repeating: 0, count: 16)
        for sequence in sequences {
            payload = [UInt8](repeating: UInt8(sequence), count: 16)
            payload.withUnsafeMutableBytes { buffer.insert(header(sequence), payload: $0.baseAddress!) }
        }
    }

    @Test func `every slot keeps its packet and its payload`() {
        var buffer = JitterBuffer(capacity: Self.capacity, payloadCapacity: 16)
        insert((20..<28).reversed(), into: &buffer)
        #expect(buffer.highest == 27)
        for sequence in 20..<28 {
            #expect(buffer.header(of: sequence)?.position == sequence * 128)
            let payload = UnsafeRawBufferPointer(start: buffer.payload(of: sequence), count: 16)
            #expect(payload.allSatisfy { $0 == UInt8(sequence) }, "packet \(sequence)")
        }
        #expect(buffer.header(of: 19) == nil && buffer.header(of: 28) == nil)
    }

    @Test func `the first packet after a gap is found, and no packet beyond the highest`() {
        var buffer = JitterBuffer(capacity: Self.capacity, payloadCapacity: 16)
        #expect(buffer.first(from: 0) == nil)
        insert([3, 7], into: &buffer)
        #expect(buffer.first(from: 0) == 3)
        #expect(buffer.first(from: 3) == 3)
        #expect(buffer.first(from: 4) == 7)
        #expect(buffer.first(from: 8) == nil)
    }

    @Test func `a full buffer is emptied completely`() {
        var buffer = JitterBuffer(capacity: Self.capacity, payloadCapacity: 16)
        insert(0..<8, into: &buffer)
        buffer.removeAll()
        #expect(buffer.highest == -1)
        for sequence in 0..<8 { #expect(buffer.header(of: sequence) == nil, "packet \(sequence)") }
        insert([2], into: &buffer)
        #expect(buffer.highest == 2)
        #expect(buffer.first(from: 0) == 2)
    }
}
