// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime

/// A source's parameters, converted for the ears.
struct SpatialTarget: BitwiseCopyable {
    /// The position along the line through the ears: the cosine of the angle between the source and the right ear, −1 to 1.
    var side: Double
    /// The gain for the distance, 0 to 1.
    var gain: Double
    /// 1 for two loudspeakers, 0 for a head; between them during a change.
    var panned: Double

    /// Creates a target without a position, which differs from all others.
    @_noLocks
    init() {
        side = 2
        gain = 0
        panned = 0
    }

    /// The indices of ``parameters``.
    private enum Parameter: Int {
        case x, y, z, algorithm, distanceModel, referenceDistance, maximumDistance, rolloffFactor
    }

    /// - Parameter values: one for each of ``parameters``.
    @_noLocks
    init(_ values: UnsafePointer<Float>) {
        let x = Double(values[Parameter.x.rawValue])
        let y = Double(values[Parameter.y.rawValue])
        let z = Double(values[Parameter.z.rawValue])
        let distance = earshot_sqrt(x * x + y * y + z * z)
        // Inside the head a source crosses smoothly from one ear to the other instead of jumping at the centre. From 1 m on, the
        // angle is changed by at most 0.3°, and by less farther away.
        let squaredRatio = distance * distance / (SphericalHead.radius * SphericalHead.radius)
        let side = x / SphericalHead.radius / earshot_sqrt(earshot_sqrt(1 + squaredRatio * squaredRatio))
        self.side = side > 1 ? 1 : side < -1 ? -1 : side
        panned = values[Parameter.algorithm.rawValue] < 0.5 ? 0 : 1
        gain = Double(Self.attenuation(values).gain(at: Float(distance)))
    }

    @_noLocks
    private static func attenuation(_ values: UnsafePointer<Float>) -> DistanceAttenuation {
        let model: DistanceAttenuation.Model =
            values[Parameter.distanceModel.rawValue] < 0.5
            ? .exponential : values[Parameter.distanceModel.rawValue] < 1.5 ? .inverse : .linear
        return DistanceAttenuation(
            model: model, referenceDistance: values[Parameter.referenceDistance.rawValue],
            maximumDistance: values[Parameter.maximumDistance.rawValue],
            rolloffFactor: values[Parameter.rolloffFactor.rawValue])
    }

    /// Returns true if both have the same values.
    @_noLocks
    func isSame(as other: SpatialTarget) -> Bool {
        side == other.side && gain == other.gain && panned == other.panned
    }

    static var parameters: [UnitParameter] {
        [
            UnitParameter("x", "Metres to the right", .metres, -100_000...100_000, default: 0),
            UnitParameter("y", "Metres upwards", .metres, -100_000...100_000, default: 0),
            UnitParameter("z", "Metres behind", .metres, -100_000...100_000, default: -1),
            UnitParameter(
                "algorithm", "Rendering algorithm", .choice(["sphericalHead", "equalPowerPanning"]), 0...1, default: 0),
            UnitParameter(
                "distanceModel", "Distance model", .choice(["exponential", "inverse", "linear"]), 0...2, default: 1),
            UnitParameter("referenceDistance", "Reference distance", .metres, 0.01...10_000, default: 1),
            UnitParameter("maximumDistance", "Maximum distance", .metres, 0.01...100_000, default: 100_000),
            UnitParameter("rolloffFactor", "Roll-off factor", .generic, 0...20, default: 1),
        ]
    }
}
