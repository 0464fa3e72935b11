/// One event of a `text/event-stream` (HTML Living Standard, 9.2).
struct ServerSentEvent: Hashable, Sendable {
    /// `message` where the stream says nothing.
    var name = "message"
    /// What a client that comes back says in `Last-Event-ID`.
    var id: String?
    /// One line or several.
    var data: String

    /// As it goes over the wire. A name or an id has no line feeds: there they are left out.
    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        func add(_ field: String, _ value: some Sequence<UInt8>) { bytes += Array("\(field): ".utf8) + value + [10] }
        if name != "message" { add("event", name.utf8.filter { $0 != 10 && $0 != 13 }) }
        if let id { add("id", id.utf8.filter { $0 != 10 && $0 != 13 && $0 != 0 }) }
        var line: [UInt8] = []
        var last: UInt8 = 0
        for byte in data.utf8 {
            switch byte {
            case 10 where last == 13: break
            case 10, 13:
                add("data", line)
                line = []
            default: line.append(byte)
            }
            last = byte
        }
        add("data", line)
        return bytes + [10]
    }

    /// A comment, which clients pass over: it says that the stream is alive.
    static let heartbeat: [UInt8] = Array(":\n\n".utf8)
}
