// SPDX-License-Identifier: Apache-2.0

import EarshotAudioDSP
import Synchronization

/// The level of the last block, for any thread. Peak and mean square share one atomic, so that a store is cheap.
final class LevelMeter: Sendable {
    /// The render thread's handle; valid as long as the meter lives.
    struct Handle: @unchecked Sendable, BitwiseCopyable {  // an atomic
        fileprivate let bits: UnsafeMutablePointer<Atomic<UInt64>>

        @_noLocks
        func store(_ level: Level) {
            let (peak, square) = (UInt64(level.peak.bitPattern), UInt64(level.meanSquare.bitPattern))
            bits.pointee.store(peak &<< 32 | square, ordering: .relaxed)
        }
    }

    let handle: Handle

    init() {
        handle = Handle(bits: .allocate(capacity: 1))
        handle.bits.initialize(to: Atomic(0))
    }

    deinit {
        handle.bits.deinitialize(count: 1)
        handle.bits.deallocate()
    }

    func load() -> Level {
        let bits = handle.bits.pointee.load(ordering: .relaxed)
        var level = Level()
        level.peak = Float(bitPattern: UInt32(truncatingIfNeeded: bits >> 32))
        level.meanSquare = Float(bitPattern: UInt32(truncatingIfNeeded: bits))
        return level
    }
}
