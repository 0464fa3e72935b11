// SPDX-License-Identifier: Apache-2.0

import EarshotDiagnostics
import Foundation

/// A shoebox room whose six walls absorb alike, by image sources (J. B. Allen and D. A. Berkley, "Image method for efficiently
/// simulating small-room acoustics", 1979). Sources and microphones are points without a direction.
package struct SimulatedRoom: Sendable {
    /// A position or a size in metres, from a corner of the floor.
    package struct Point: Hashable, Sendable {
        package var x, y, z: Double

        package init(_ x: Double, _ y: Double, _ z: Double) { (self.x, self.y, self.z) = (x, y, z) }

        package func distance(to other: Point) -> Double {
            (pow(x - other.x, 2) + pow(y - other.y, 2) + pow(z - other.z, 2)).squareRoot()
        }
    }

    /// The room's length, width and height.
    package let size: Point
    /// The seconds in which the sound decays by 60 dB.
    package let reverberationTime: Double
    /// The share of the amplitude that a reflection keeps.
    let reflection: Double

    /// - Parameters:
    ///   - size: each at least 1 m.
    ///   - reverberationTime: 0.1 to 2 s. A room that cannot decay so slowly or so fast has the nearest possible time.
    package init(size: Point, reverberationTime: Double) {
        precondition(min(size.x, size.y, size.z) >= 1 && (0.1...2).contains(reverberationTime))
        self.size = size
        self.reverberationTime = reverberationTime
        reflection = ImageDecay(size: size, duration: reverberationTime).reflection(decayingIn: reverberationTime)
    }

    /// Returns the sound at a microphone of an impulse at a source. At 1 m the direct sound has the amplitude 1.
    /// - Parameters:
    ///   - directGain: the gain of the direct sound. Less than 1 stands for a loudspeaker that is turned away, or an obstacle.
    ///   - duration: in seconds; nil for the reverberation time, after which the sound is 60 dB weaker.
    package func impulseResponse(
        from source: Point, to microphone: Point, sampleRate: Double, directGain: Double = 1, duration: Double? = nil
    ) -> [Float] {
        let count = Int(((duration ?? reverberationTime) * sampleRate).rounded(.up))
        var response = [Float](repeating: 0, count: count)
        let pulse = FractionalPulse()
        let framesPerMetre = sampleRate / LoopPath.speedOfSound
        let gains = (0...Self.largestOrder).map { pow(reflection, Double($0)) }
        ImageSources(size: size, source: source, microphone: microphone)
            .forEach(within: Double(count + FractionalPulse.length) / framesPerMetre) { distance, order in
                let gain = gains[min(order, Self.largestOrder)] * (order == 0 ? directGain : 1)
                pulse.add(at: distance * framesPerMetre, gain: gain / max(distance, Self.leastDistance), to: &response)
            }
        Self.removeConstantPressure(&response, sampleRate: sampleRate)
        return response
    }

    /// Reflections after which a sound counts as gone.
    private static let largestOrder = 1_000
    /// Metres below which a sound becomes no louder.
    private static let leastDistance = 0.01
    /// Hz below which the response is cut: images of one polarity add up to a constant pressure, which no room has.
    private static let lowestFrequency = 20.0

    /// A high pass of the second order, as Allen and Berkley have it.
    private static func removeConstantPressure(_ samples: inout [Float], sampleRate: Double) {
        let step = 2 * Double.pi * lowestFrequency / sampleRate
        let (decay, turn) = (exp(-step), cos(step))
        var (first, second) = (0.0, 0.0)
        for i in samples.indices {
            let next = 2 * decay * turn * first - decay * decay * second + Double(samples[i])
            samples[i] = Float(next - (1 + decay) * first + decay * second)
            (first, second) = (next, first)
        }
    }
}
