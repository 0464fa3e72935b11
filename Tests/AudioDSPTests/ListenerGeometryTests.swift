// SPDX-License-Identifier: Apache-2.0

import EarshotAudioDSP
import Testing

@Suite struct ListenerGeometryTests {
    static func isNear(_ a: SIMD3<Float>, _ b: SIMD3<Float>) -> Bool {
        let d = a - b
        return (d * d).sum().squareRoot() < 1e-4
    }

    @Test func `a listener who has not turned hears sources in their original directions`() {
        let place = SIMD3<Float>(1, 2, 3)
        #expect(ListenerGeometry().relative(place) == place)
        #expect(ListenerGeometry(position: SIMD3(1, 1, 1)).relative(place) == SIMD3(0, 1, 2))
    }

    @Test(arguments: [
        // The rotation, and where a listener then hears places straight ahead, to the right and above.
        (90 as Float, 0 as Float, 0 as Float, SIMD3<Float>(-1, 0, 0), SIMD3<Float>(0, 0, -1), SIMD3<Float>(0, 1, 0)),
        (-90, 0, 0, SIMD3(1, 0, 0), SIMD3(0, 0, 1), SIMD3(0, 1, 0)),
        (0, 90, 0, SIMD3(0, -1, 0), SIMD3(1, 0, 0), SIMD3(0, 0, -1)),
        (0, 0, 90, SIMD3(0, 0, -1), SIMD3(0, 1, 0), SIMD3(-1, 0, 0)),
        // Turned to the right, then up around the turned ears: the world's right is ahead and half-way down.
        (90, 45, 0, SIMD3(-1, 0, 0), SIMD3(0, -0.70711, -0.70711), SIMD3(0, 0.70711, -0.70711)),
    ])
    func `turning the head turns sources the opposite way`(
        yaw: Float, pitch: Float, roll: Float, ahead: SIMD3<Float>, right: SIMD3<Float>, above: SIMD3<Float>
    ) {
        let listener = ListenerGeometry(yaw: yaw, pitch: pitch, roll: roll)
        #expect(Self.isNear(listener.relative(SIMD3(0, 0, -1)), ahead))
        #expect(Self.isNear(listener.relative(SIMD3(1, 0, 0)), right))
        #expect(Self.isNear(listener.relative(SIMD3(0, 1, 0)), above))
    }

    @Test func `rotation preserves right angles, handedness and distances at any angle`() {
        for yaw in stride(from: Float(-180), through: 180, by: 45) {
            for pitch in stride(from: Float(-80), through: 80, by: 40) {
                for roll in stride(from: Float(-170), through: 170, by: 85) {
                    let listener = ListenerGeometry(position: SIMD3(3, -1, 2), yaw: yaw, pitch: pitch, roll: roll)
                    let (r, u, f) = (listener.right, listener.up, listener.forward)
                    #expect(abs((r * u).sum()) < 1e-5 && abs((u * f).sum()) < 1e-5 && abs((r * f).sum()) < 1e-5)
                    let back = SIMD3(r.y * u.z - r.z * u.y, r.z * u.x - r.x * u.z, r.x * u.y - r.y * u.x)
                    #expect(Self.isNear(back, -f))
                    let same = ListenerGeometry(position: SIMD3(3, -1, 2), forward: f * 3, up: u + f * 0.5)
                    #expect(
                        same.map { Self.isNear($0.relative(SIMD3(4, 5, 6)), listener.relative(SIMD3(4, 5, 6))) } == true
                    )
                    let seen = listener.relative(SIMD3(4, 5, 6))
                    #expect(abs((seen * seen).sum() - 53) < 1e-3)
                }
            }
        }
    }

    @Test func `vectors that define no orientation are rejected`() {
        #expect(ListenerGeometry(forward: .zero, up: SIMD3(0, 1, 0)) == nil)
        #expect(ListenerGeometry(forward: SIMD3(0, 2, 0), up: SIMD3(0, 1, 0)) == nil)
        #expect(ListenerGeometry(forward: SIMD3(.nan, 2, 0), up: SIMD3(0, 1, 0)) == nil)
    }

    @Test func `azimuth, elevation and distance convert to a position`() {
        #expect(Self.isNear(ListenerGeometry.place(azimuth: 0, distance: 2), SIMD3(0, 0, -2)))
        #expect(Self.isNear(ListenerGeometry.place(azimuth: 90, distance: 2), SIMD3(2, 0, 0)))
        #expect(Self.isNear(ListenerGeometry.place(azimuth: 180, elevation: 30, distance: 2), SIMD3(0, 1, 1.73205)))
    }

    @Test(arguments: DistanceAttenuation.Model.allCases)
    func `gain never rises with distance, and an invalid attenuation law has no effect`(
        model: DistanceAttenuation.Model
    ) {
        let law = DistanceAttenuation(model: model, referenceDistance: 2, maximumDistance: 50, rolloffFactor: 3)
        var last: Float = 1
        for d in stride(from: Float(0), through: 100, by: 0.5) {
            let gain = law.gain(at: d)
            #expect(gain >= 0 && gain <= last)
            if d <= 2 { #expect(gain == 1) }
            if d >= 50 { #expect(gain == law.gain(at: 50)) }
            last = gain
        }
        for maximum: Float in [2, 1] {
            let none = DistanceAttenuation(model: model, referenceDistance: 2, maximumDistance: maximum)
            #expect(none.gain(at: 10) == 1)
        }
        #expect(DistanceAttenuation(model: model, referenceDistance: 0).gain(at: 10) == 1)
    }
}
