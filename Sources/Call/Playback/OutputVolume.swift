// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Synchronization

/// The volume of the played mix, on the render thread. At 1 no sample is changed.
struct OutputVolume: ~Copyable {
    /// The requested volume, as the bits of a Float.
    private let wanted: UnsafeMutablePointer<Atomic<UInt32>>
    private var ramp: GainRamp

    init(_ wanted: UnsafeMutablePointer<Atomic<UInt32>>, sampleRate: Double) {
        self.wanted = wanted
        ramp = GainRamp(Float(bitPattern: wanted.pointee.load(ordering: .relaxed)), sampleRate: sampleRate)
    }

    /// Scales a block in place.
    @_noLocks
    mutating func process(_ block: Channels, _ frameCount: Int) {
        guard frameCount > 0 else { return }
        let volume = Float(bitPattern: wanted.pointee.load(ordering: .relaxed))
        ramp.begin(volume, frameCount)
        if ramp.isUnity { return }
        ramp.scale(block, frameCount)
    }
}
