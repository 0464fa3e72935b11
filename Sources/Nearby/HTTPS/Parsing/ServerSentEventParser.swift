/// Takes a `text/event-stream` in whatever pieces it comes. A value without socket or clock.
struct ServerSentEventParser: Sendable {
    /// Bytes of one event at most.
    static let maximumSize = 65_536

    private var line: [UInt8] = []
    private var followsReturn = false
    private var name = ""
    private var data: [UInt8]?
    private var id: String?
    private var isFirstLine = true
    private var size = 0

    /// Takes the next bytes.
    /// - Returns: the events that they complete.
    /// - Throws: where one is larger than ``maximumSize``; the parser is of no use then.
    mutating func take(_ bytes: some Sequence<UInt8>) throws(ServerSentEventError) -> [ServerSentEvent] {
        var events: [ServerSentEvent] = []
        for byte in bytes {
            defer { followsReturn = byte == 13 }
            if byte == 10, followsReturn { continue }
            if byte == 10 || byte == 13 {
                if let event = endLine() { events.append(event) }
                continue
            }
            size += 1
            guard size <= Self.maximumSize else { throw .tooLarge }
            line.append(byte)
        }
        return events
    }

    /// Reads the line; an empty one ends the event.
    private mutating func endLine() -> ServerSentEvent? {
        defer {
            line.removeAll(keepingCapacity: true)
            isFirstLine = false
        }
        if isFirstLine, line.starts(with: [0xEF, 0xBB, 0xBF]) { line.removeFirst(3) }
        guard let first = line.first else { return endEvent() }
        guard first != UInt8(ascii: ":") else {
            size -= line.count
            return nil
        }
        let colon = line.firstIndex(of: UInt8(ascii: ":")) ?? line.endIndex
        var value = line[min(colon + 1, line.endIndex)...]
        if value.first == UInt8(ascii: " ") { value.removeFirst() }
        switch String(decoding: line[..<colon], as: UTF8.self) {
        case "event": name = String(decoding: value, as: UTF8.self)
        case "data": data = data.map { $0 + [10] + value } ?? Array(value)
        case "id" where !value.contains(0): id = String(decoding: value, as: UTF8.self)
        default: break
        }
        return nil
    }

    private mutating func endEvent() -> ServerSentEvent? {
        defer {
            data = nil
            name = ""
            size = 0
        }
        guard let data else { return nil }
        let text = String(decoding: data, as: UTF8.self)
        return ServerSentEvent(name: name.isEmpty ? "message" : name, id: id, data: text)
    }
}

/// Why bytes are no stream of events.
enum ServerSentEventError: Error, Hashable, CustomStringConvertible {
    /// One exceeds ``ServerSentEventParser/maximumSize``.
    case tooLarge

    var description: String {
        "an event of more than \(ServerSentEventParser.maximumSize) bytes; install the same version on both"
    }
}
