// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime

/// A source's attenuation by distance: the three models of AVAudioEnvironmentDistanceAttenuationParameters.
///
/// Each model clamps the distance to ``referenceDistance``…``maximumDistance``.
public struct DistanceAttenuation: Hashable, Sendable {
    /// A model with distance d, reference r, maximum m and roll-off f.
    public enum Model: Int, Hashable, Sendable, CaseIterable {
        /// The gain is (d / r)^−f.
        case exponential
        /// The gain is r / (r + f (d − r)); with a roll-off of 1 the pressure of a small source in the open, −6 dB per doubling
        /// of the distance.
        case inverse
        /// The gain is 1 − f (d − r) / (m − r), but not below 0.
        case linear
    }

    /// The model of the attenuation.
    public var model: Model
    /// The reference distance in metres, above 0.
    public var referenceDistance: Float
    /// The maximum distance in metres. At or below ``referenceDistance`` nothing is attenuated.
    public var maximumDistance: Float
    /// The roll-off, at least 0; 0 for no attenuation.
    public var rolloffFactor: Float

    /// Creates an attenuation; by default inverse, from 1 m on.
    @_noLocks
    public init(
        model: Model = .inverse, referenceDistance: Float = 1, maximumDistance: Float = 100_000,
        rolloffFactor: Float = 1
    ) {
        self.model = model
        self.referenceDistance = referenceDistance
        self.maximumDistance = maximumDistance
        self.rolloffFactor = rolloffFactor
    }

    /// Returns the gain at a distance in metres, 0 to 1. Safe on the render thread.
    @_noLocks
    public func gain(at distance: Float) -> Float {
        var d = distance < maximumDistance ? distance : maximumDistance
        d = d > referenceDistance ? d : referenceDistance
        let excessDistance = d - referenceDistance
        if !(excessDistance > 0) || !(referenceDistance > 0) { return 1 }
        switch model {
        case .exponential: return Float(earshot_pow(Double(d / referenceDistance), Double(-rolloffFactor)))
        case .inverse: return referenceDistance / (referenceDistance + rolloffFactor * excessDistance)
        case .linear:
            let gain = 1 - rolloffFactor * excessDistance / (maximumDistance - referenceDistance)
            return gain > 0 ? gain : 0
        }
    }
}
