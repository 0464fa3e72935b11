// SPDX-License-Identifier: Apache-2.0

/// One event of an event stream (WHATWG HTML, "Server-sent events").
package struct ServerSentEvent: Hashable, Sendable {
    /// The value of the field `id:`, without line ends and zero bytes; nil if there is none.
    package var id: String?
    /// The value of the field `event:`, without line ends; "message" if there is none.
    package var name: String
    /// The value of the field `data:`, which may have several lines.
    package var data: String

    /// Creates an event.
    /// - Precondition: `id` and `name` have no line end, and `id` has no zero byte.
    package init(id: String? = nil, name: String = "message", data: String) {
        precondition(!name.utf8.contains { $0 == 10 || $0 == 13 })
        precondition(id?.utf8.contains { $0 == 10 || $0 == 13 || $0 == 0 } != true)
        self.id = id
        self.name = name
        self.data = data
    }

    /// The event's bytes on the wire. Line ends in the data, also carriage returns, reach the reader as line feeds.
    package var bytes: [UInt8] {
        var bytes: [UInt8] = []
        func line(_ field: String, _ value: some Collection<UInt8>) { bytes += Array("\(field): ".utf8) + value + [10] }
        if let id { line("id", id.utf8) }
        if name != "message" { line("event", name.utf8) }
        var rest = Array(data.utf8)[...]
        while let end = rest.firstIndex(where: { $0 == 10 || $0 == 13 }) {
            line("data", rest[..<end])
            let isPair = rest[end] == 13 && rest[end...].dropFirst().first == 10
            rest = rest[(end + (isPair ? 2 : 1))...]
        }
        line("data", rest)
        return bytes + [10]
    }

    /// The bytes of a comment, sent on a quiet event stream as a sign of life.
    package static let keepAlive: [UInt8] = [58, 10, 10]

    /// Returns the field that tells a browser how long to wait before it reconnects.
    package static func retry(milliseconds: Int) -> [UInt8] { Array("retry: \(milliseconds)\n\n".utf8) }
}

/// Parses an event stream from pieces of any size.
package struct EventStreamParser: Sendable {
    /// The maximum bytes of a line, and of an event's data.
    package static let maximumEventSize = 131_072

    /// An item of a stream.
    package enum Item: Hashable, Sendable {
        /// An event.
        case event(ServerSentEvent)
        /// A comment, as a sign of life.
        case comment
        /// The milliseconds that the reader should wait before it connects again.
        case retry(Int)
    }

    private var line: [UInt8] = []
    private var isAtStart = true
    private var isAfterReturn = false
    private var id: String?
    private var name = ""
    private var data: [UInt8]?

    /// The id of the last event, for `Last-Event-ID`.
    package private(set) var lastEventID: String?

    /// Creates a parser at the beginning of a stream.
    package init() {}

    /// Parses the next bytes. After an error close the stream.
    package mutating func parse(_ bytes: some Sequence<UInt8>) throws(EventStreamError) -> [Item] {
        var items: [Item] = []
        for byte in bytes {
            defer { isAfterReturn = byte == 13 }
            switch byte {
            case 10 where isAfterReturn: continue
            case 10, 13:
                if let item = try endLine() { items.append(item) }
            default:
                guard line.count < Self.maximumEventSize else { throw EventStreamError() }
                line.append(byte)
            }
        }
        return items
    }

    private mutating func endLine() throws(EventStreamError) -> Item? {
        defer { line.removeAll(keepingCapacity: true) }
        if isAtStart, line.starts(with: [0xEF, 0xBB, 0xBF]) { line.removeFirst(3) }
        isAtStart = false
        guard !line.isEmpty else { return endEvent() }
        guard line.first != 58 else { return .comment }
        let colon = line.firstIndex(of: 58) ?? line.endIndex
        var value = line[min(colon + 1, line.endIndex)...]
        if value.first == 32 { value = value.dropFirst() }
        switch String(decoding: line[..<colon], as: UTF8.self) {
        case "data":
            guard (data?.count ?? 0) + value.count < Self.maximumEventSize else { throw EventStreamError() }
            if data == nil {
                data = Array(value)
            } else {
                data?.append(10)
                data?.append(contentsOf: value)
            }
        case "event": name = String(decoding: value, as: UTF8.self)
        case "id": if !value.contains(0) { id = String(decoding: value, as: UTF8.self) }
        case "retry": return wireNumber(String(decoding: value, as: UTF8.self)).map { .retry(Int($0)) }
        default: break
        }
        return nil
    }

    private mutating func endEvent() -> Item? {
        defer {
            id = nil
            name = ""
            data = nil
        }
        if let id { lastEventID = id }
        guard let data else { return nil }
        let text = String(decoding: data, as: UTF8.self)
        return .event(ServerSentEvent(id: id, name: name.isEmpty ? "message" : name, data: text))
    }
}

/// A line or an event is longer than ``EventStreamParser/maximumEventSize``.
package struct EventStreamError: Error, Hashable, Sendable, CustomStringConvertible {
    /// One line for the user.
    package var description: String {
        "the host's events are longer than \(EventStreamParser.maximumEventSize) bytes; does it run this version of Earshot?"
    }
}
