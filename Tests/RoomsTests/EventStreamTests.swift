// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import EarshotRooms

@Suite struct EventStreamTests {
    private func items(_ text: String, piece: Int = .max) throws -> [EventStreamParser.Item] {
        try items(Array(text.utf8)) { piece }
    }

    private func items(_ bytes: [UInt8], piece: () -> Int) throws -> [EventStreamParser.Item] {
        var parser = EventStreamParser()
        var rest = bytes[...]
        var items: [EventStreamParser.Item] = []
        while !rest.isEmpty {
            let part = rest.prefix(piece())
            rest = rest.dropFirst(part.count)
            items += try parser.parse(part)
        }
        return items
    }

    @Test(arguments: ["\n", "\r", "\r\n"], [1, 2, 5, Int.max])
    func `lines with any line ending are parsed, in pieces of any size`(end: String, piece: Int) throws {
        let lines = [
            ":hello", "retry: 250", "id: 7", "event:offer", "data: a", "data", "data:  b", "nonsense: x", "", "data:c",
            "", "",
            "event: empty", "", "id", "data: d", "",
        ]
        let text = "\u{FEFF}" + lines.map { $0 + end }.joined() + "data: cut off"
        let expected: [EventStreamParser.Item] = [
            .comment, .retry(250), .event(ServerSentEvent(id: "7", name: "offer", data: "a\n\n b")),
            .event(ServerSentEvent(data: "c")), .event(ServerSentEvent(id: "", data: "d")),
        ]
        #expect(try items(text, piece: piece) == expected)
    }

    @Test func `the examples of the standard are parsed as specified`() throws {
        let first = ": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third\n"
        #expect(
            try items(first) == [
                .comment, .event(ServerSentEvent(id: "1", data: "first event")),
                .event(ServerSentEvent(id: "", data: "second event")),
            ])
        let empty = try items("data\n\ndata\ndata\n\ndata:")
        #expect(empty == [.event(ServerSentEvent(data: "")), .event(ServerSentEvent(data: "\n"))])
        let same = try items("data:test\n\ndata: test\n\n")
        #expect(same == [.event(ServerSentEvent(data: "test")), .event(ServerSentEvent(data: "test"))])
    }

    @Test func `an endless series of comments is accepted, and not stored`() throws {
        var parser = EventStreamParser()
        var count = 0
        for _ in 0..<100_000 where try parser.parse(ServerSentEvent.keepAlive) == [.comment] { count += 1 }
        #expect(count == 100_000)
        #expect(try parser.parse("data: x\n\n".utf8).count == 1)
    }

    @Test func `written events are read back unchanged`() throws {
        var random = SeededRandom(seed: 1)
        for _ in 0..<2_000 {
            let events = (0..<random.below(5)).map { _ in
                ServerSentEvent(
                    id: random.below(2) == 0 ? nil : "\(random.below(100))-é",
                    name: ["message", "roster"][random.below(2)],
                    data: String(
                        decoding: (0..<random.below(40)).map { _ in UInt8([10, 32, 58, 65, 66][random.below(5)]) },
                        as: UTF8.self))
            }
            var bytes: [UInt8] = []
            for event in events {
                if random.below(3) == 0 { bytes += ServerSentEvent.keepAlive }
                bytes += event.bytes
            }
            let read = try items(bytes) { 1 + random.below(20) }
            #expect(read.filter { $0 != .comment } == events.map { .event($0) })
        }
    }

    @Test func `a carriage return in event data is a line break`() throws {
        let event = ServerSentEvent(data: "a\rb\r\nc\nd")
        #expect(try items(event.bytes) { .max } == [.event(ServerSentEvent(data: "a\nb\nc\nd"))])
    }

    @Test func `the last event ID is kept across events without one`() throws {
        var parser = EventStreamParser()
        _ = try parser.parse(Array("id: 3\ndata: a\n\ndata: b\n\nid: 4\ndata: c".utf8))
        #expect(parser.lastEventID == "3")
    }

    @Test(arguments: ["data: ", "x"])
    func `an endless line or event is an error`(start: String) {
        #expect(throws: EventStreamError()) { try items(start + String(repeating: "a", count: 200_000)) }
        #expect(throws: EventStreamError()) { try items(String(repeating: "data: aaaa\n", count: 50_000)) }
        #expect(throws: EventStreamError()) { try items(String(repeating: "data\n", count: 200_000)) }
    }

    @Test func `any bytes give the same result in pieces of any size`() {
        var random = SeededRandom(seed: 2)
        let base = Array("id: 1\nevent: roster\ndata: {}\n\n:\n\nretry: 5\ndata: a\r\ndata: b\r\n\r\n".utf8)
        for _ in 0..<20_000 {
            let bytes = random.damaged(base, pieces: ["\n", "\r", "\r\n\r\n", "data:", "id:", ":", "\u{0}"])
            let whole = Result { try items(bytes) { .max } }
            let cut = Result { try items(bytes) { 1 + random.below(9) } }
            #expect("\(whole)" == "\(cut)")
        }
    }

    @Test func `a byte order mark is skipped only at the start of the stream`() throws {
        let mark = "\u{FEFF}"
        #expect(try items("\(mark)data: a\n\n") == [.event(ServerSentEvent(data: "a"))])
        #expect(try items("data: a\n\(mark)data: b\n\n") == [.event(ServerSentEvent(data: "a"))])
        #expect(try items("\(mark)\(mark)data: a\n\n") == [])
    }

    @Test func `a line or event of up to 131,071 bytes is accepted`() throws {
        let limit = EventStreamParser.maximumEventSize
        func data(_ count: Int) -> String { String(repeating: "a", count: count) }
        #expect(try items("\(data(limit))\n") == [])
        #expect(throws: EventStreamError()) { try items(data(limit + 1)) }
        let half = limit / 2
        let event = try items("data: \(data(half))\ndata: \(data(half - 1))\n\n")
        #expect(event == [.event(ServerSentEvent(data: "\(data(half))\n\(data(half - 1))"))])
        #expect(throws: EventStreamError()) { try items("data: \(data(half))\ndata: \(data(half))\n") }
    }

    @Test func `an event ID with a zero byte and a retry time that is not a number are ignored`() throws {
        #expect(try items("id: 1\nid: 2\u{0}\ndata: a\n\n") == [.event(ServerSentEvent(id: "1", data: "a"))])
        #expect(try items("retry: 1x\nretry: -1\nretry: 0\nretry:7\n") == [.retry(0), .retry(7)])
        #expect(try items("data:  a\n\n") == [.event(ServerSentEvent(data: " a"))])
    }
}
