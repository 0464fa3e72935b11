// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Testing

@testable import EarshotPlayout

struct PacketQueueTests {
    private func header(_ sequence: Int, byteCount: Int = 16) -> PacketHeader {
        PacketHeader(
            sequence: sequence, position: sequence * 64, frameCount: 64, byteCount: byteCount,
            arrival: HostTime(nanoseconds: Int64(sequence)))
    }

    private func push(_ sequence: Int, _ queue: PacketQueue, byteCount: Int = 16) -> Bool {
        let payload = [UInt8](repeating: UInt8(sequence), count: byteCount)
        return payload.withUnsafeBytes { queue.push(header(sequence, byteCount: byteCount), payload: $0) }
    }

    @Test func `a header contains the values from which it was created`() {
        let plain = header(3, byteCount: 20)
        #expect(plain.sequence == 3 && plain.position == 192 && plain.frameCount == 64 && plain.byteCount == 20)
        #expect(plain.arrival == HostTime(nanoseconds: 3))
        #expect(!plain.startsStream && !plain.isRecovered && !plain.wasRequested)
        #expect(!plain.isFallbackCodec && !plain.endsCongestion)
        for flag in 0..<3 {
            let marked = PacketHeader(
                sequence: 0, position: 0, frameCount: 0, byteCount: 0, arrival: HostTime(nanoseconds: 0),
                startsStream: flag == 0, isRecovered: flag == 1, wasRequested: flag == 2)
            #expect((marked.startsStream, marked.isRecovered, marked.wasRequested) == (flag == 0, flag == 1, flag == 2))
        }
    }

    @Test(arguments: [(1, 2), (2, 2), (3, 4), (5, 8), (8, 8), (9, 16)])
    func `the capacity of a queue is rounded up to a power of two`(asked: Int, held: Int) {
        let queue = PacketQueue(capacity: asked, payloadCapacity: 16)
        for n in 0..<held { #expect(push(n, queue)) }
        #expect(queue.rejectedPackets == 0)
        #expect(!push(held, queue) && !push(held, queue) && queue.rejectedPackets == 2)
        for n in 0..<held {
            let slot = queue.storage.first
            #expect(slot.map { queue.storage.headers[$0].sequence } == n)
            queue.storage.removeFirst()
        }
        #expect(queue.storage.first == nil)
    }

    @Test func `packets are read in order with their payloads, however often the queue wraps`() {
        let queue = PacketQueue(capacity: 4, payloadCapacity: 20)
        var next = 0
        for n in 0..<200 {
            #expect(push(n, queue, byteCount: 20))
            if n % 3 != 0 { continue }
            while let slot = queue.storage.first {
                #expect(queue.storage.headers[slot].sequence == next)
                let payload = UnsafeRawBufferPointer(
                    start: queue.storage.payloads + slot * queue.storage.payloadCapacity, count: 20)
                #expect(payload.allSatisfy { $0 == UInt8(next) }, "packet \(next)")
                queue.storage.removeFirst()
                next += 1
            }
        }
        #expect(next > 190 && queue.rejectedPackets == 0)
    }

    /// Slots are multiples of 16 bytes, so that they can hold floats.
    @Test func `a payload may fill its slot to the last byte, but not exceed it`() {
        for (asked, room) in [(16, 16), (17, 32), (100, 112)] {
            let queue = PacketQueue(capacity: 2, payloadCapacity: asked)
            #expect(queue.storage.payloadCapacity == room)
            #expect(push(1, queue, byteCount: room) && !push(2, queue, byteCount: room + 1))
            #expect(queue.push(header(3, byteCount: room)) { _ in })
            #expect(!queue.push(header(4, byteCount: room + 1)) { _ in })
            #expect(queue.rejectedPackets == 2)
        }
    }

    @Test func `the playout depth is reported once it plays, and the longer of two listeners counts`() {
        let (ears, recorder) = (
            PacketQueue(capacity: 2, payloadCapacity: 16), PacketQueue(capacity: 2, payloadCapacity: 16)
        )
        #expect(ears.hold == nil && ears.drift == 0 && ears.longestHold == 0)
        ears.storage.publish(hold: 0.010, limit: 0.080, drift: 20e-6)
        #expect(ears.hold?.seconds == 0.010 && ears.hold?.limit == 0.080 && ears.drift == 20e-6)
        #expect(ears.longestHold == 0.010)
        ears.second = recorder
        #expect(ears.longestHold == 0.010)
        recorder.storage.publish(hold: 0.5, limit: 0.6, drift: 0)
        #expect(ears.longestHold == 0.5 && recorder.longestHold == 0.5)
    }
}
