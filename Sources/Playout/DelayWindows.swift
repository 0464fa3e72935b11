// SPDX-License-Identifier: Apache-2.0

/// A ring of at most sixteen windows, in rows 0 to 15 of the histogram.
struct DelayWindows: ~Copyable {
    static var capacity: Int { @_noLocks get { 16 } }

    private(set) var count = 0
    private var newestIndex = 0
    private let memory: UnsafeMutablePointer<DelayWindow>  // reading an element of an InlineArray would copy all

    init() {
        memory = .allocate(capacity: 16)
        for row in 0..<16 { (memory + row).initialize(to: DelayWindow(row: row)) }
    }

    deinit { memory.deallocate() }

    /// The newest window; an empty one if there is none.
    var newest: UnsafeMutablePointer<DelayWindow> { @_noLocks get { memory + newestIndex } }

    /// The oldest window; there must be one.
    var oldest: UnsafeMutablePointer<DelayWindow> { @_noLocks get { self[count &- 1] } }

    /// The window that is this many windows older than the newest.
    subscript(age: Int) -> UnsafeMutablePointer<DelayWindow> {
        @_noLocks get { memory + (newestIndex &+ Self.capacity &- age) % Self.capacity }
    }

    /// Adds an empty window; there must be room for it.
    @_noLocks
    mutating func append(start: Double) {
        newestIndex = (newestIndex &+ 1) % Self.capacity
        newest.pointee.start = start
        count &+= 1
    }

    /// Removes the oldest window; there must be one.
    @_noLocks
    mutating func removeOldest() {
        oldest.pointee = DelayWindow(row: oldest.pointee.row)
        count &-= 1
    }
}
