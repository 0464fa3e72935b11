import TestSupport
import Testing

@testable import Nearby

@Suite struct HTTPTargetTests {
    @Test func `paths and queries are taken apart`() {
        let target = HTTPTarget("/room/members/a%2Fb%20c?epoch=2&flag&name=%C3%A9&epoch=3")
        #expect(target?.path == "/room/members/a%2Fb%20c")
        #expect(target?.components == ["room", "members", "a/b c"])
        #expect(target?.query == ["epoch": "2", "flag": "", "name": "é"])
        #expect(HTTPTarget("/")?.components == [])
        #expect(HTTPTarget("//a//b/?")?.components == ["a", "b"])
    }

    @Test(arguments: ["", "room", "*", "http://a/b", "/%", "/%4", "/%zz", "/%FF", "/a b", "/é", "/a?b=%C3", "/\u{7F}"])
    func `what is no target is none`(text: String) { #expect(HTTPTarget(text) == nil) }

    @Test(arguments: ["", "a", "a/b?c=d&e#f%g", "é\r\n\0", "..", "日本"])
    func `what is escaped comes back`(text: String) {
        let target = HTTPTarget("/x\(HTTPTarget.escape(text))?\(HTTPTarget.escape(text))=\(HTTPTarget.escape(text))")
        #expect(target?.components == ["x" + text])
        #expect(target?.query[text] == text)
    }
}

@Suite struct ServerSentEventTests {
    /// Whole, and byte by byte.
    private func read(_ bytes: [UInt8]) throws -> [ServerSentEvent] {
        var whole = ServerSentEventParser()
        var bytewise = ServerSentEventParser()
        let events = try whole.take(bytes)
        #expect(try bytes.flatMap { try bytewise.take([$0]) } == events)
        return events
    }

    @Test func `the standard's examples are read as it says`() throws {
        let first = try read(
            Array(": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third\n".utf8))
        #expect(
            first == [ServerSentEvent(id: "1", data: "first event"), ServerSentEvent(id: "", data: "second event")])
        #expect(try read(Array("data\n\ndata\ndata\n\ndata:".utf8)).map(\.data) == ["", "\n"])
        #expect(try read(Array("data:test\n\ndata: test\n\n".utf8)).map(\.data) == ["test", "test"])
    }

    @Test func `any line ending, a mark at the start, and unknown fields are taken`() throws {
        let text = "\u{FEFF}event: a\r\nretry: 5\rother\ndata: 1\r\rdata: 2\r\n\r\n"
        #expect(try read(Array(text.utf8)) == [ServerSentEvent(name: "a", data: "1"), ServerSentEvent(data: "2")])
    }

    @Test(arguments: ["", "one", "two\nlines", "\n", "é: x", " blank", "a\r\nb\rc"])
    func `what is written is read`(data: String) throws {
        let event = ServerSentEvent(name: "offer", id: "12", data: data)
        let text = data.replacing("\r\n", with: "\n").replacing("\r", with: "\n")
        #expect(
            try read(event.bytes + ServerSentEvent.heartbeat) == [ServerSentEvent(name: "offer", id: "12", data: text)])
    }

    @Test func `names and ids cannot add lines`() throws {
        let event = ServerSentEvent(name: "a\ndata: x", id: "1\r\n\r\ndata: y\0", data: "z")
        #expect(try read(event.bytes) == [ServerSentEvent(name: "adata: x", id: "1data: y", data: "z")])
    }

    @Test func `an event without end is refused, and comments without end are not`() throws {
        var parser = ServerSentEventParser()
        #expect(throws: ServerSentEventError.tooLarge) {
            for _ in 0..<70 { _ = try parser.take("data: ".utf8 + [UInt8](repeating: 65, count: 1_000) + [10]) }
        }
        var quiet = ServerSentEventParser()
        for _ in 0..<100_000 { #expect(try quiet.take(ServerSentEvent.heartbeat).isEmpty) }
        #expect(try quiet.take("data: x\n\n".utf8).count == 1)
    }

    @Test func `random bytes are read the same in any pieces`() throws {
        var random = SeededRandom(seed: 7)
        for _ in 0..<2_000 {
            let alphabet: [UInt8] = Array("data: event: id:\n\r\n\n x".utf8) + [0, 0xEF, 0xBB, 0xBF]
            let bytes = (0..<40).map { _ in alphabet[Int(random.next() % UInt64(alphabet.count))] }
            _ = try read(bytes)
        }
    }
}
