// SPDX-License-Identifier: Apache-2.0

/// The memory of one payload.
struct PayloadMemory: ~Copyable {
    static let capacity = 2_048
    let start = UnsafeMutableRawPointer.allocate(byteCount: PayloadMemory.capacity, alignment: 16)

    deinit { start.deallocate() }

    var all: UnsafeMutableRawBufferPointer { UnsafeMutableRawBufferPointer(start: start, count: Self.capacity) }

    func first(_ count: Int) -> UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: start, count: count) }
}
