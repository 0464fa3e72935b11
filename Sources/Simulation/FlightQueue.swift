// SPDX-License-Identifier: Apache-2.0

/// The datagrams in flight, the next to arrive first.
final class FlightQueue {
    private var flights = Flights()

    deinit { flights.deallocate() }

    /// The time of the next arrival in nanoseconds; `.max` for none.
    var nextArrival: Int64 { flights.nextArrival }
    /// The number of datagrams in flight.
    var count: Int { flights.count }
    /// The number of allocated slots.
    var slotCount: Int { flights.slotCount }

    /// Adds a copy of a datagram with its arrival time.
    func insert(_ datagram: UnsafeRawBufferPointer, from: Int, to: Int, at time: Int64) {
        flights.insert(datagram, from: from, to: to, at: time)
    }

    /// Removes and returns the next arrival; nil if there is none by this time.
    func next(by time: Int64) -> Flights.IncomingTransfer? { flights.next(by: time) }

    /// Frees the memory of an arrival for reuse.
    func recycle(_ arrival: Flights.IncomingTransfer) { flights.recycle(arrival) }
}

/// A binary heap of datagrams in reused memory, so that nothing is allocated once the network is at its fullest. A value, as each
/// access to a class's property is checked at run time.
struct Flights {
    /// A datagram that has arrived; its bytes are valid until ``recycle(_:)``.
    struct IncomingTransfer {
        let from: Int
        let to: Int
        /// The bytes, which the receiver may change.
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
        let slot = takeSlot(room: datagram.count)
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
            bytes: UnsafeMutableRawBufferPointer(rebasing: slot.memory[..<slot.count]),
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
