// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The dial, passed from any thread to the render callback.
struct SharedDial: @unchecked Sendable {  // an atomic; its owner frees it when nobody pulls any more
    private let position: UnsafeMutablePointer<Atomic<UInt64>>  // a Double's bits

    init(_ dial: PlayoutDial) {
        position = .allocate(capacity: 1)
        position.initialize(to: Atomic(dial.position.bitPattern))
    }

    func deallocate() {
        position.deinitialize(count: 1)
        position.deallocate()
    }

    /// The position from 0 to 1.
    var value: Double { @_noLocks get { Double(bitPattern: position.pointee.load(ordering: .relaxed)) } }

    func store(_ dial: PlayoutDial) { position.pointee.store(dial.position.bitPattern, ordering: .relaxed) }
}
