// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The latency profile, passed from any thread to the render callback.
struct SharedLatencyProfile: @unchecked Sendable {  // an atomic; the owner frees it after the last pull
    private let position: UnsafeMutablePointer<Atomic<UInt64>>  // the bits of a Double

    init(_ profile: LatencyProfile) {
        position = .allocate(capacity: 1)
        position.initialize(to: Atomic(profile.position.bitPattern))
    }

    func deallocate() {
        position.deinitialize(count: 1)
        position.deallocate()
    }

    /// The profile's position from 0, fast, to 1, safe.
    var value: Double { @_noLocks get { Double(bitPattern: position.pointee.load(ordering: .relaxed)) } }

    func store(_ profile: LatencyProfile) { position.pointee.store(profile.position.bitPattern, ordering: .relaxed) }
}
