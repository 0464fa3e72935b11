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

/// A binary heap of datagrams in reused memory, so that memory is allocated only when more datagrams are in flight than before. A
/// struct, because each access to a class's property is checked at run time.
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
        var arrivalTime: Int64
        var number: UInt64  // in the order of sending, which decides between equal arrival times
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
    private var freeSlots: [Int] = []
    private var sentCount: UInt64 = 0

    func deallocate() { for slot in slots { slot.memory.deallocate() } }

    var nextArrival: Int64 { heap.first?.arrivalTime ?? .max }

    var count: Int { heap.count }
    var slotCount: Int { slots.count }

    mutating func insert(_ datagram: UnsafeRawBufferPointer, from: Int, to: Int, at time: Int64) {
        let slot = takeSlot(room: datagram.count)
        slots[slot].memory.copyMemory(from: datagram)
        slots[slot].count = datagram.count
        slots[slot].from = from
        slots[slot].to = to
        heap.append(Flight(arrivalTime: time, number: sentCount, slot: slot))
        sentCount += 1
        rise(heap.count - 1)
    }

    mutating func next(by time: Int64) -> IncomingTransfer? {
        guard let first = heap.first, first.arrivalTime <= time else { return nil }
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

    mutating func recycle(_ arrival: IncomingTransfer) { freeSlots.append(arrival.slot) }

    private mutating func takeSlot(room: Int) -> Int {
        guard let slot = freeSlots.popLast() else {
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
        heap[a].arrivalTime < heap[b].arrivalTime
            || (heap[a].arrivalTime == heap[b].arrivalTime && heap[a].number < heap[b].number)
    }

    private mutating func rise(_ place: Int) {
        var index = place
        while index > 0, isBefore(index, (index - 1) / 2) {
            heap.swapAt(index, (index - 1) / 2)
            index = (index - 1) / 2
        }
    }

    private mutating func sink(_ place: Int) {
        var index = place
        while true {
            var earliest = index
            for child in 2 * index + 1...2 * index + 2 where child < heap.count && isBefore(child, earliest) {
                earliest = child
            }
            if earliest == index { return }
            heap.swapAt(index, earliest)
            index = earliest
        }
    }
}
