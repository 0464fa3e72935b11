// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import TestSupport
import Testing

@testable import EarshotLiveCall

/// Lines, and the state of a client of a call's socket.
@Suite struct CallSocketConnectionTests {
    private static func line(_ text: String) -> CallSocketConnection.Input { .line(Array(text.utf8)) }

    private static func receive(_ connection: inout CallSocketConnection, _ text: String, at seconds: Double = 1)
        -> [CallSocketConnection.Input]
    {
        connection.receive(
            Array(text.utf8)[...], at: HostTime(nanoseconds: 0).advanced(bySeconds: seconds))
    }

    @Test func `lines are the same however the bytes are divided`() {
        var random = SeededRandom(seed: 7)
        for _ in 0..<300 {
            let alphabet: [UInt8] = [10, 13, 65, 66, 0xFF, 0]
            let bytes = (0..<random.below(200)).map { _ in alphabet[random.below(alphabet.count)] }
            var whole = LineBuffer(limit: 8)
            let lines = whole.append(bytes[...])
            var parts = LineBuffer(limit: 8)
            var found: [[UInt8]] = []
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = 1 + random.below(9)
                found += parts.append(rest.prefix(count))
                rest = rest.dropFirst(count)
            }
            #expect(found == lines && parts.isTooLong == whole.isTooLong)
            #expect(lines.allSatisfy { !$0.isEmpty && $0.count <= 8 && !$0.contains(10) })
        }
    }

    @Test(arguments: [0, 1]) func `a line of the maximum length is read, and a longer one ends the input`(excess: Int) {
        var buffer = LineBuffer(limit: 100)
        let lines = buffer.append(([UInt8](repeating: 65, count: 100 + excess) + Array("\r\nb\n".utf8))[...])
        // The carriage return counts, too.
        #expect(lines.isEmpty && buffer.isTooLong)
        var other = LineBuffer(limit: 101)
        let others = other.append(([UInt8](repeating: 65, count: 100 + excess) + Array("\nb\n".utf8))[...])
        #expect(others.map(\.count) == [100 + excess, 1] && !other.isTooLong)
    }

    @Test func `a client whose line is too long is told so after its earlier lines, and gets no further answer`() {
        var connection = CallSocketConnection()
        let long = String(repeating: "x", count: CallSocket.requestByteLimit + 1)
        let inputs = Self.receive(&connection, "a\n\(long)")
        #expect(inputs == [Self.line("a"), .refused(.lineTooLong)])
        let laterInputs = Self.receive(&connection, "b\n")
        #expect(laterInputs.isEmpty && connection.isInputOver && connection.isOver)
    }

    @Test func `a client may send its limit of requests in each second`() {
        var connection = CallSocketConnection()
        let burst = String(repeating: "a\n", count: CallSocket.requestLimit)
        for seconds in [1, 2.1] {
            let inputs = Self.receive(&connection, burst, at: seconds)
            #expect(inputs.count == CallSocket.requestLimit)
        }
        let inputs = Self.receive(&connection, "a\nb\n", at: 2.9)
        #expect(inputs == [.refused(.tooManyRequests)] && connection.isOver)
    }

    @Test func `output is kept in order, and a client that reads too slowly is over`() {
        var connection = CallSocketConnection()
        var sent: [UInt8] = []
        var expected: [UInt8] = []
        var random = SeededRandom(seed: 3)
        for number in 0..<400 {
            let line = Array("\(number) \(String(repeating: "y", count: random.below(5_000)))".utf8)
            let isKept = connection.enqueue(line)
            #expect(isKept)
            expected += line + [10]
            let bytes = connection.nextOutput(limit: random.below(7_000))
            sent += bytes
            connection.removeOutput(bytes.count)
        }
        let rest = connection.nextOutput(limit: .max)
        connection.removeOutput(rest.count)
        #expect(sent + rest == expected && connection.pendingByteCount == 0 && !connection.isOver)
        let big = [UInt8](repeating: 65, count: CallSocket.lineByteLimit)
        let areKept = [connection.enqueue(big), connection.enqueue(big), connection.enqueue([65])]
        #expect(areKept == [true, false, false] && connection.isOver)
    }

    @Test func `a client that sends nothing more gets its answers and events first`() {
        var connection = CallSocketConnection()
        _ = connection.enqueue([65])
        connection.endInput()
        let inputs = Self.receive(&connection, "late\n")
        #expect(!connection.isOver && inputs.isEmpty)
        let areNew = [connection.beginWatching(), connection.beginWatching()]
        #expect(areNew == [true, false])
        connection.removeOutput(2)
        #expect(!connection.isOver)
        _ = connection.enqueue([66])
        connection.endWatching()
        #expect(!connection.isOver && connection.nextOutput(limit: 9) == [66, 10])
        connection.removeOutput(2)
        #expect(connection.isOver)
    }
}
