// SPDX-License-Identifier: Apache-2.0

import EarshotDiagnostics
import Foundation

/// The decay of the energy in a shoebox room, from the images' distances and reflections. Formulas such as Sabine's and Eyring's
/// assume a diffuse field, from which such a room deviates by up to a third.
struct ImageDecay {
    private static let binSeconds = 0.001
    /// The share of the amplitude that a reflection keeps.
    private static let reflections = 0.01...0.999

    /// For each millisecond and number of reflections, the energy without absorption.
    private var energies: [[Double]]

    /// - Parameter duration: in seconds.
    init(size: SimulatedRoom.Point, duration: Double) {
        energies = [[Double]](repeating: [], count: Int(1.2 * duration / Self.binSeconds) + 1)
        // No symmetric pair of positions, at which images coincide.
        let source = SimulatedRoom.Point(0.37 * size.x, 0.58 * size.y, 0.44 * size.z)
        let microphone = SimulatedRoom.Point(0.66 * size.x, 0.29 * size.y, 0.57 * size.z)
        let limit = Double(energies.count) * Self.binSeconds * LoopPath.speedOfSound
        ImageSources(size: size, source: source, microphone: microphone)
            .forEach(within: limit) { distance, order in
                let bin = min(energies.count - 1, Int(distance / LoopPath.speedOfSound / Self.binSeconds))
                if energies[bin].count <= order {
                    energies[bin] += [Double](repeating: 0, count: order + 1 - energies[bin].count)
                }
                energies[bin][order] += 1 / (distance * distance)
            }
    }

    /// Returns the reflection with which the sound decays by 60 dB in this time, by bisection.
    func reflection(decayingIn wanted: Double) -> Double {
        var (low, high) = (Self.reflections.lowerBound, Self.reflections.upperBound)
        for _ in 0..<24 {
            let middle = (low + high) / 2
            if time(reflection: middle) < wanted { low = middle } else { high = middle }
        }
        return (low + high) / 2
    }

    private func time(reflection: Double) -> Double {
        let square = reflection * reflection
        return SchroederDecay.reverberationTime(
            energies: energies.map { $0.reversed().reduce(0) { $0 * square + $1 } }, binSeconds: Self.binSeconds)
    }
}
