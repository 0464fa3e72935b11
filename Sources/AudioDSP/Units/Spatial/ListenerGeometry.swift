// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime

/// A listener's position and orientation, and the directions of sources relative to them.
///
/// The axes are right-handed, as in AVAudioEnvironmentNode: +x is right, +y up, −z ahead, in metres.
public struct ListenerGeometry: Hashable, Sendable {
    /// The position in metres.
    public var position: SIMD3<Float>
    /// The direction of the right ear, of length 1.
    public private(set) var right: SIMD3<Float>
    /// The direction of the crown, of length 1.
    public private(set) var up: SIMD3<Float>
    /// The direction of the nose, of length 1.
    public private(set) var forward: SIMD3<Float>

    /// Creates a head rotated by yaw, then pitch, then roll, in degrees, each about an axis that has rotated with the head.
    /// - Parameters:
    ///   - yaw: to the right (clockwise, seen from above).
    ///   - pitch: upwards.
    ///   - roll: the right ear down.
    public init(position: SIMD3<Float> = .zero, yaw: Float = 0, pitch: Float = 0, roll: Float = 0) {
        let (sinYaw, cosYaw) = Self.sinCos(yaw)
        let (sinPitch, cosPitch) = Self.sinCos(pitch)
        let (sinRoll, cosRoll) = Self.sinCos(roll)
        let level = SIMD3(sinYaw, 0, -cosYaw)
        let side = SIMD3(cosYaw, 0, sinYaw)
        let crown = SIMD3<Float>(0, cosPitch, 0) - level * sinPitch
        self.position = position
        forward = level * cosPitch + SIMD3(0, sinPitch, 0)
        right = side * cosRoll - crown * sinRoll
        up = crown * cosRoll + side * sinRoll
    }

    /// Creates a head that looks along `forward`, with its crown as near to `up` as possible. The vectors may have any length;
    /// nil if one is zero, or if they are parallel.
    public init?(position: SIMD3<Float> = .zero, forward: SIMD3<Float>, up: SIMD3<Float>) {
        guard let nose = Self.unit(forward), let upward = Self.unit(up), let side = Self.unit(Self.cross(nose, upward))
        else { return nil }
        self.position = position
        self.forward = nose
        right = side
        self.up = Self.cross(side, nose)
    }

    /// Returns a position relative to this listener: metres to the right, up, and behind.
    public func relative(_ place: SIMD3<Float>) -> SIMD3<Float> {
        let offset = place - position
        return SIMD3((offset * right).sum(), (offset * up).sum(), -(offset * forward).sum())
    }

    /// Returns the position, relative to a listener, at two angles in degrees and a distance in metres.
    /// - Parameters:
    ///   - azimuth: 0 is ahead, 90 right, −90 left.
    ///   - elevation: 90 is overhead.
    public static func place(azimuth: Float, elevation: Float = 0, distance: Float) -> SIMD3<Float> {
        let (sinAzimuth, cosAzimuth) = sinCos(azimuth)
        let (sinElevation, cosElevation) = sinCos(elevation)
        return SIMD3(cosElevation * sinAzimuth, sinElevation, -cosElevation * cosAzimuth) * distance
    }

    private static func sinCos(_ degrees: Float) -> (Float, Float) {
        let angle = Double(degrees) * .pi / 180
        return (Float(earshot_sin(angle)), Float(earshot_cos(angle)))
    }

    private static func unit(_ v: SIMD3<Float>) -> SIMD3<Float>? {
        let length = (v * v).sum().squareRoot()
        return length > 1e-6 && length.isFinite ? v / length : nil
    }

    private static func cross(_ a: SIMD3<Float>, _ b: SIMD3<Float>) -> SIMD3<Float> {
        SIMD3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x)
    }
}
