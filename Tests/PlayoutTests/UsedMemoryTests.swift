// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Testing

@testable import EarshotPlayout

/// Memory from `malloc` contains what an object of the same size left there just before.
@Suite struct UsedMemoryTests {
    @Test func `a new queue is empty in reused memory`() {
        let payload = [UInt8](repeating: 1, count: 16)
        for _ in 0..<50 {
            let queue = PacketQueue(capacity: 4, payloadCapacity: 16)
            #expect(queue.hold == nil && queue.drift == 0 && queue.storage.first == nil && queue.rejectedPackets == 0)
            for sequence in 0..<5 {
                let header = PacketHeader(
                    sequence: sequence, position: 0, frameCount: 64, byteCount: 16, arrival: HostTime(nanoseconds: 0))
                let isIn = payload.withUnsafeBytes { queue.push(header, payload: $0) }
                #expect(isIn == (sequence < 4))
            }
            queue.storage.removeFirst()
            queue.storage.publish(hold: 0.1, limit: 0.2, drift: 1e-6)
        }
    }

    @Test func `a new jitter buffer has no packets in reused memory`() {
        var payload = [UInt8](repeating: 1, count: 16)
        for _ in 0..<50 {
            var buffer = JitterBuffer(capacity: 4, payloadCapacity: 16)
            for sequence in 0..<4 {
                #expect(buffer.header(of: sequence) == nil)
                let header = PacketHeader(
                    sequence: sequence, position: 0, frameCount: 64, byteCount: 16, arrival: HostTime(nanoseconds: 0))
                payload.withUnsafeMutableBytes { buffer.insert(header, payload: $0.baseAddress!) }
            }
        }
    }

    @Test func `a new histogram is empty in reused memory`() {
        for _ in 0..<20 {
            let histogram = DelayHistogram(rowCount: 2)
            let found = histogram.descend(from: 2_000, to: -2_000, allowed: 0)
            #expect(found == (-2_001, 0))
            histogram.move(from: 1, to: 0, 0, 1_000)
            let moved = histogram.descend(from: 2_000, to: -2_000, allowed: 0)
            #expect(moved == (-2_001, 0))
            for bin in 0..<1_000 { for row in 0..<2 { histogram.add(bin, row: row, counts: row == 0) } }
        }
    }

    @Test func `a new tracker of recovered packets is empty in reused memory`() {
        for _ in 0..<50 {
            var tracker = RecoveryTracker()
            let none = tracker.offset(at: 0, drift: 0)
            #expect(none == nil)
            for n in 0..<30 {
                tracker.add(recovered: 0.1, at: Double(n))
                let found = tracker.offset(at: Double(n), drift: 0)
                #expect(found == (n < 2 ? nil : 0.1))
            }
        }
    }

    @Test func `a new history is silent in reused memory`() {
        let block = AudioBuffer(channelCount: 1, frameCapacity: 16)
        for i in 0..<16 { block.channels[0][i] = 9 }
        for _ in 0..<50 {
            var history = History(channelCount: 1, frameCount: 16)
            #expect((0..<16).allSatisfy { history[0][$0] == 0 })
            for _ in 0..<20 { history.append(block.channels, offset: 0, frameCount: 16) }
        }
    }
}
