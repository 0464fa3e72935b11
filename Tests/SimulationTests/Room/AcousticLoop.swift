// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Foundation

@testable import EarshotDiagnostics
@testable import EarshotSimulation

/// A device whose loudspeaker is heard by its microphone in a simulated room.
struct AcousticLoop {
    static let rate = 48_000.0
    /// The size of all rooms in metres.
    static let size = SimulatedRoom.Point(5.1, 4.2, 2.7)

    /// A loudspeaker and a microphone together.
    enum Transducer: String, CaseIterable {
        case studio, laptop, telephone

        /// The frequencies in hertz between which the sound passes, with 12 dB per octave.
        var band: (low: Double, high: Double) {
            switch self {
            case .studio: (50, 18_000)
            case .laptop: (350, 7_000)
            case .telephone: (600, 3_500)
            }
        }

        /// The second and the third harmonic of the loudest sound, relative to it.
        var distortion: (second: Float, third: Float) {
            switch self {
            case .studio: (0, 0)
            case .laptop: (0.05, 0.03)
            case .telephone: (0.1, 0.05)
            }
        }
    }

    var reverberationTime: Double
    /// From the loudspeaker to the microphone, in metres.
    var distance: Double
    var transducer = Transducer.laptop
    /// The gain of the direct sound: below 1, the loudspeaker is turned away.
    var directGain = 1.0
    /// The round trip of the device in frames.
    var deviceFrames = 700

    /// Returns what the microphone captures of a sweep without noise.
    func echo() -> (probe: [Float], captured: [Float]) {
        let path = LoopPath.air(distance: distance, tolerance: 0)
        let probe = ProbeSignal.samples(rate: Self.rate, duration: path.sweepDuration)
        let room = SimulatedRoom(size: Self.size, reverberationTime: reverberationTime)
        let source = SimulatedRoom.Point(1.6, 1.9, 0.9)
        var response = room.impulseResponse(
            from: source,
            to: SimulatedRoom.Point(source.x + 0.9 * distance, source.y + 0.4 * distance, source.z + 0.173 * distance),
            sampleRate: Self.rate, directGain: directGain)
        Self.filter(&response, at: transducer.band.low, isLowPass: false)
        Self.filter(&response, at: transducer.band.high, isLowPass: true)
        let (second, third) = transducer.distortion
        let loudest = Float(ProbeSignal.amplitude)
        let played = probe.map { x in
            x + second * (2 * x * x / loudest - loudest) + third * x * (4 * x * x / (loudest * loudest) - 3)
        }
        let count = probe.count + Int(path.maximumRoundTrip * Self.rate)
        let heard = Self.convolve(played, with: response, count: count - deviceFrames)
        // The user turns the microphone to a middle level.
        let gain = 0.3 / (heard.map(\.magnitude).max() ?? 1)
        return (probe, [Float](repeating: 0, count: deviceFrames) + heard.map { gain * $0 })
    }

    /// Calibrates the device.
    /// - Parameters:
    ///   - signalToNoise: the level of the sweep above the noise at the microphone, in dB.
    ///   - change: changes the sound of each sweep.
    func calibrate(
        _ echo: (probe: [Float], captured: [Float]), signalToNoise: Double,
        _ change: (_ sweep: Int, _ samples: inout [Float]) -> Void = { _, _ in }
    ) -> Result<DelayCalibration, CalibrationError> {
        let path = LoopPath.air(distance: distance, tolerance: 0.05)
        let sweep = echo.captured[deviceFrames..<deviceFrames + echo.probe.count]
        let power = sweep.reduce(0) { $0 + Double($1 * $1) } / Double(echo.probe.count)
        // The power of noise that is uniform between −1 and 1 is a third.
        let gain = Float((3 * power * pow(10, -signalToNoise / 10)).squareRoot())
        let results = (0..<DelayCalibration.sweepCount).map { sweep in
            var random = SeededRandom(seed: UInt64(sweep + 1) &* 0x9E37_79B9)
            var samples = echo.captured.map { $0 + gain * Float(2 * random.unit() - 1) }
            change(sweep, &samples)
            return DelayCalibration.measure(
                ProbeCapture(
                    probe: echo.probe, probeSampleTime: 0, captured: [samples], capturedSampleTime: 0,
                    sampleRate: Self.rate), through: path)
        }
        return Result { () throws(CalibrationError) in
            try DelayCalibration(results, through: path, sampleRate: Self.rate)
        }
    }

    /// The device's round trip in seconds.
    var truth: Double { Double(deviceFrames) / Self.rate }

    static func convolve(_ sound: [Float], with response: [Float], count: Int) -> [Float] {
        let correlator = Correlator(window: response.count, lags: count)
        return correlator.correlate(Array(response.reversed())[...], sound, 1 - response.count)
    }

    /// A Butterworth filter of the second order (R. Bristow-Johnson's cookbook).
    private static func filter(_ samples: inout [Float], at frequency: Double, isLowPass: Bool) {
        let angle = 2 * Double.pi * frequency / rate
        let (alpha, turn) = (sin(angle) / 2.0.squareRoot(), cos(angle))
        let edge = isLowPass ? 1 - turn : -(1 + turn)
        let (b0, b1) = (abs(edge) / 2 / (1 + alpha), edge / (1 + alpha))
        let (a1, a2) = (-2 * turn / (1 + alpha), (1 - alpha) / (1 + alpha))
        var (first, second) = (0.0, 0.0)
        for i in samples.indices {
            let x = Double(samples[i])
            let y = b0 * x + first
            (first, second) = (b1 * x - a1 * y + second, b0 * x - a2 * y)
            samples[i] = Float(y)
        }
    }
}
