// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Testing

@testable import EarshotSimulation

@Suite struct FlightQueueTests {
    @Test func `datagrams arrive in order of arrival time, and at equal times in order of sending`() throws {
        let queue = FlightQueue()
        var random = SeededRandom(seed: 2)
        var model: [(at: Int64, number: Int)] = []
        var sent = 0
        var arrived = 0
        for round in 0..<3_000 {
            if random.unit() < 0.55 || model.isEmpty {
                let size = 4 + Int(random.next() % 3_000)
                var bytes = [UInt8](repeating: UInt8(truncatingIfNeeded: sent), count: size)
                withUnsafeBytes(of: Int32(sent).littleEndian) { for i in 0..<4 { bytes[i] = $0[i] } }
                let at = Int64(round + Int(random.next() % 60))
                bytes.withUnsafeBytes { queue.insert($0, from: sent % 5, to: sent % 7, at: at) }
                model.append((at, sent))
                sent += 1
            } else {
                model.sort { ($0.at, $0.number) < ($1.at, $1.number) }
                let expected = model.removeFirst()
                #expect(queue.nextArrival == expected.at)
                #expect(queue.next(by: expected.at - 1) == nil, "nothing is early")
                let arrival = try #require(queue.next(by: expected.at))
                let number = Int(arrival.bytes.loadUnaligned(as: Int32.self))
                let last = arrival.bytes[arrival.bytes.count - 1]
                #expect(number == expected.number && arrival.from == number % 5 && arrival.to == number % 7)
                if arrival.bytes.count > 4 { #expect(last == UInt8(truncatingIfNeeded: number)) }
                queue.recycle(arrival)
                arrived += 1
            }
            #expect(queue.count == model.count)
        }
        #expect(arrived > 1_000)
    }
}
