// SPDX-License-Identifier: Apache-2.0

/// The recent events for one member, so that an interrupted event stream can continue.
struct EventQueue: Sendable {
    /// The maximum stored events.
    static let capacity = 32
    /// The maximum total bytes of data in the stored events.
    static let maximumSize = 131_072

    private var events: [ServerSentEvent] = []
    /// The total bytes of data in the stored events.
    private(set) var size = 0
    /// The number of the last event added; 0 before the first one.
    private(set) var last: UInt64 = 0

    var count: Int { events.count }

    /// Numbers and stores an event. The oldest events are dropped while the queue exceeds its maximum count or size.
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

    /// Returns the events after the one with this number; nil if some are no longer stored, or if no event has had this number.
    func events(after number: UInt64) -> ArraySlice<ServerSentEvent>? {
        guard number <= last, last - number <= UInt64(events.count) else { return nil }
        return events.suffix(Int(last - number))
    }
}
