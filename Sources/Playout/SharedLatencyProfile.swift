// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The latency profile, passed from any thread to the render callback.
struct SharedLatencyProfile: @unchecked Sendable {  // an atomic; its owner frees it when nobody pulls any more
    private let position: UnsafeMutablePointer<Atomic<UInt64>>  // a Double's bits

    init(_ profile: LatencyProfile) {
        position = .allocate(capacity: 1)
        position.initialize(to: Atomic(profile.position.bitPattern))
    }

    func deallocate() {
        position.deinitialize(count: 1)
        position.deallocate()
    }

    /// The position from 0 to 1.
    var value: Double { @_noLocks get { Double(bitPattern: position.pointee.load(ordering: .relaxed)) } }

    func store(_ profile: LatencyProfile) { position.pointee.store(profile.position.bitPattern, ordering: .relaxed) }
}
