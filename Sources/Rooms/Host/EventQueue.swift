// SPDX-License-Identifier: Apache-2.0

/// The recent events of one member, so that a broken stream can continue.
struct EventQueue: Sendable {
    /// Events kept.
    static let capacity = 32
    /// Bytes of their data kept.
    static let maximumSize = 131_072

    private var events: [ServerSentEvent] = []
    private(set) var size = 0
    /// The number of the last event. Events count from 1.
    private(set) var last: UInt64 = 0

    var count: Int { events.count }

    /// Numbers an event and keeps it, at the cost of the oldest.
    mutating func add(_ name: String, _ data: String, epoch: Epoch) -> ServerSentEvent {
        last += 1
        let event = ServerSentEvent(
            id: EventID(epoch: epoch, number: last).description, name: name, data: data)
        events.append(event)
        size += data.utf8.count
        while events.count > Self.capacity || size > Self.maximumSize, let first = events.first {
            size -= first.data.utf8.count
            events.removeFirst()
        }
        return event
    }

    /// Returns the events after that number; nil if some are no longer kept.
    func events(after number: UInt64) -> ArraySlice<ServerSentEvent>? {
        guard number <= last, last - number <= UInt64(events.count) else { return nil }
        return events.suffix(Int(last - number))
    }
}
