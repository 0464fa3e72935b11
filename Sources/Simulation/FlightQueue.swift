// SPDX-License-Identifier: Apache-2.0

/// Datagrams on their way, the next to arrive first.
final class FlightQueue {
    /// Spare bytes after a datagram for its sender or receiver.
    static let tailRoom = 64

    private var flights = Flights()

    deinit { flights.deallocate() }

    /// When the next arrives, in nanoseconds; `.max` where nothing flies.
    var nextArrival: Int64 { flights.nextArrival }
    /// Datagrams on their way.
    var count: Int { flights.count }
    /// Datagrams that there is memory for.
    var slotCount: Int { flights.slotCount }

    /// Takes a copy of a datagram that arrives at a time.
    func insert(_ datagram: UnsafeRawBufferPointer, from: Int, to: Int, at time: Int64) {
        flights.insert(datagram, from: from, to: to, at: time)
    }

    /// Takes out what arrives next; nil if nothing does by then.
    func next(by time: Int64) -> Flights.IncomingTransfer? { flights.next(by: time) }

    /// The memory of an arrival may be used again.
    func recycle(_ arrival: Flights.IncomingTransfer) { flights.recycle(arrival) }
}

/// A binary heap of datagrams over memory that is used again, so that nothing is allocated once the network is as full as it
/// gets. A value, as each look at a class's property is checked at run time.
struct Flights {
    /// A datagram that has arrived; its bytes are there until ``recycle(_:)``.
    struct IncomingTransfer {
        let from: Int
        let to: Int
        /// With room for ``FlightQueue/tailRoom`` bytes behind it.
        let bytes: UnsafeMutableRawBufferPointer
        fileprivate let slot: Int
    }

    private struct Flight {
        var at: Int64
        var number: UInt64  // of two at one instant, the one that was sent first
        var slot: Int
    }
    private struct Slot {
        var memory: UnsafeMutableRawBufferPointer
        var count = 0
        var from = 0
        var to = 0
    }

    private var heap: [Flight] = []
    private var slots: [Slot] = []
    private var free: [Int] = []
    private var sent: UInt64 = 0

    func deallocate() { for slot in slots { slot.memory.deallocate() } }

    var nextArrival: Int64 { heap.first?.at ?? .max }

    var count: Int { heap.count }
    var slotCount: Int { slots.count }

    mutating func insert(_ datagram: UnsafeRawBufferPointer, from: Int, to: Int, at time: Int64) {
        let slot = takeSlot(room: datagram.count + FlightQueue.tailRoom)
        slots[slot].memory.copyMemory(from: datagram)
        slots[slot].count = datagram.count
        slots[slot].from = from
        slots[slot].to = to
        heap.append(Flight(at: time, number: sent, slot: slot))
        sent += 1
        rise(heap.count - 1)
    }

    mutating func next(by time: Int64) -> IncomingTransfer? {
        guard let first = heap.first, first.at <= time else { return nil }
        let last = heap.removeLast()
        if !heap.isEmpty {
            heap[0] = last
            sink(0)
        }
        let slot = slots[first.slot]
        return IncomingTransfer(
            from: slot.from, to: slot.to,
            bytes: UnsafeMutableRawBufferPointer(rebasing: slot.memory[..<(slot.count + FlightQueue.tailRoom)]),
            slot: first.slot)
    }

    mutating func recycle(_ arrival: IncomingTransfer) { free.append(arrival.slot) }

    private mutating func takeSlot(room: Int) -> Int {
        guard let slot = free.popLast() else {
            let size = max(2_048, room)
            slots.append(Slot(memory: .allocate(byteCount: size, alignment: 16)))
            return slots.count - 1
        }
        if slots[slot].memory.count < room {
            slots[slot].memory.deallocate()
            slots[slot].memory = .allocate(byteCount: 2 * room, alignment: 16)
        }
        return slot
    }

    private func isBefore(_ a: Int, _ b: Int) -> Bool {
        heap[a].at < heap[b].at || (heap[a].at == heap[b].at && heap[a].number < heap[b].number)
    }

    private mutating func rise(_ place: Int) {
        var at = place
        while at > 0, isBefore(at, (at - 1) / 2) {
            heap.swapAt(at, (at - 1) / 2)
            at = (at - 1) / 2
        }
    }

    private mutating func sink(_ place: Int) {
        var at = place
        while true {
            var least = at
            for child in 2 * at + 1...2 * at + 2 where child < heap.count && isBefore(child, least) { least = child }
            if least == at { return }
            heap.swapAt(at, least)
            at = least
        }
    }
}
