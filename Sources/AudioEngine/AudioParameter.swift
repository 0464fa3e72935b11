// SPDX-License-Identifier: Apache-2.0

import EarshotAudioDSP

/// A parameter of a node, to be set at once or at a given frame, from any thread.
///
/// By default a change does not click: continuous values ramp over 20 ms (decibels at 1.2 dB a millisecond, if that takes
/// longer); choices fade. A scheduled change ramps over the requested time.
public struct AudioParameter: Sendable {
    private let store: ParameterStore
    private let index: Int
    private let node: String

    init(_ store: ParameterStore, _ index: Int, node: String) {
        self.store = store
        self.index = index
        self.node = node
    }

    /// The parameter's name, unit, range and default.
    public var information: UnitParameter { store.parameters[index] }

    /// The value that was set last, in the parameter's unit and clamped to its range. NaN and infinity are ignored.
    public var value: Float {
        get { store.values[index] }
        nonmutating set { store.set(index, to: newValue) }
    }

    /// Ramps to a value, from an exact frame on.
    /// - Parameters:
    ///   - ramp: the seconds of the ramp, clamped to a week; 0 for an immediate change, which may click.
    ///   - sampleTime: the first frame of the ramp on the engine's frame counter, ``AudioEngine/sampleTime``, clamped to 2⁵⁰;
    ///     nil or a past frame for a start at once. The counter starts anew with the engine; changes that are pending when the
    ///     engine stops stay pending.
    /// - Throws: ``AudioEngineError/tooManyScheduled(node:)``.
    public func setValue(_ value: Float, ramp: Double = 0.02, at sampleTime: Int64? = nil) throws(AudioEngineError) {
        guard store.schedule(index, to: value, rampSeconds: ramp, at: sampleTime ?? .min) else {
            throw .tooManyScheduled(node: node)
        }
    }
}
