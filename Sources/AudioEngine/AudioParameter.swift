// SPDX-License-Identifier: Apache-2.0

import EarshotAudioDSP

/// One thing about a node that can be set, now or later, from any thread.
///
/// A change never clicks: continuous values move over 20 ms (decibels over 1 ms for every 1.2, if that is longer), or over the
/// requested ramp; choices are faded.
public struct AudioParameter: Sendable {
    private let store: ParameterStore
    private let index: Int
    private let node: String

    init(_ store: ParameterStore, _ index: Int, node: String) {
        self.store = store
        self.index = index
        self.node = node
    }

    /// Name, unit, range and default.
    public var information: UnitParameter { store.parameters[index] }

    /// The value that was set last, in its unit. A value beyond the range is brought into it; NaN and infinity are not taken.
    public var value: Float {
        get { store.values[index] }
        nonmutating set { store.set(index, to: newValue) }
    }

    /// Moves it to a value by a ramp, beginning at an exact frame.
    /// - Parameters:
    ///   - ramp: seconds that the way takes, a week at most; 0 for at once, which may click.
    ///   - sampleTime: on the engine's frame counter, ``AudioEngine/sampleTime``; nil for now. What is over is due now; beyond
    ///     2⁵⁰ is brought to it. It counts from each start of the engine; what waits when the engine stops waits on.
    /// - Throws: ``AudioEngineError/tooManyScheduled(node:)``.
    public func setValue(_ value: Float, ramp: Double = 0.02, at sampleTime: Int64? = nil) throws(AudioEngineError) {
        guard store.schedule(index, to: value, rampSeconds: ramp, at: sampleTime ?? .min) else {
            throw .tooManyScheduled(node: node)
        }
    }
}
