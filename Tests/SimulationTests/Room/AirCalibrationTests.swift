// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Foundation
import TestTraits
import Testing

@testable import EarshotDiagnostics
@testable import EarshotSimulation

/// The delay of a device by loudspeaker and microphone, in simulated rooms.
@Suite(.optimized) struct AirCalibrationTests {
    /// The greatest error in seconds.
    static let limit = 1e-3

    @Test(arguments: AcousticLoop.Transducer.allCases) func `the delay is right to 1 ms in each room, or refused`(
        transducer: AcousticLoop.Transducer
    ) throws {
        for time in [0.2, 0.8] {
            for distance in [0.1, 0.5, 2] {
                let loop = AcousticLoop(reverberationTime: time, distance: distance, transducer: transducer)
                let echo = loop.echo()
                for ratio in [30.0, 10, -3, -15] {
                    let result = loop.calibrate(echo, signalToNoise: ratio)
                    let words = "RT60 \(time) s, \(distance) m, \(ratio) dB: \(result)"
                    guard case .success(let found) = result else {
                        #expect(ratio < 10, "\(words)")
                        continue
                    }
                    #expect(abs(found.roundTrip - loop.truth) < min(Self.limit, found.uncertainty), "\(words)")
                }
            }
        }
    }

    @Test(arguments: [0.2, 0.35, 0.5]) func `the direct sound counts, although a reflection is louder`(
        gain: Double
    ) throws {
        let loop = AcousticLoop(reverberationTime: 0.6, distance: 1, transducer: .laptop, directGain: gain)
        let echo = loop.echo()
        let found = try loop.calibrate(echo, signalToNoise: 30).get()
        #expect(abs(found.roundTrip - loop.truth) < Self.limit)
    }

    @Test(arguments: AcousticLoop.Transducer.allCases)
    func `the distortion of a loudspeaker is not heard as the sweep of a slow device`(
        transducer: AcousticLoop.Transducer
    ) throws {
        // The second harmonic arrives 127 ms before the sweep.
        for deviceFrames in [6_500, 12_000, 24_000] {
            let loop = AcousticLoop(
                reverberationTime: 0.3, distance: 0.3, transducer: transducer, deviceFrames: deviceFrames)
            let found = try loop.calibrate(loop.echo(), signalToNoise: 30).get()
            #expect(abs(found.roundTrip - loop.truth) < Self.limit)
        }
    }

    @Test func `a noise during one sweep does not change the result`() throws {
        let loop = AcousticLoop(reverberationTime: 0.4, distance: 0.5)
        let found = try loop.calibrate(loop.echo(), signalToNoise: 30) { sweep, samples in
            guard sweep == 2 else { return }
            var random = SeededRandom(seed: 3)
            for i in samples.indices { samples[i] += 0.3 * Float(2 * random.unit() - 1) }
        }
        .get()
        #expect(abs(found.roundTrip - loop.truth) < Self.limit)
    }

    @Test func `the reason of a refusal is noise, clipping, no echo, silence or an unstable device`() {
        let loop = AcousticLoop(reverberationTime: 0.4, distance: 0.5)
        let echo = loop.echo()
        let silent = (probe: echo.probe, captured: echo.captured.map { _ in Float(0) })
        func failure(
            _ ratio: Double, _ change: (Int, inout [Float]) -> Void = { _, _ in }
        ) -> CalibrationError? {
            if case .failure(let error) = loop.calibrate(echo, signalToNoise: ratio, change) { return error }
            return nil
        }
        #expect(failure(-12) == .noise)
        #expect(failure(-40) { _, samples in for i in samples.indices { samples[i] *= 0.01 } } == .noEcho)
        #expect(
            failure(30) { _, samples in
                for i in samples.indices { samples[i] = max(-1, min(1, 10 * samples[i])) }
            } == .clipping)
        // Two of five sweeps are late by a block of 256 frames.
        let unstable = failure(30) { sweep, samples in
            if sweep > 2 { samples = [Float](repeating: 0, count: 256) + samples.dropLast(256) }
        }
        guard case .unstable(let seconds)? = unstable else {
            Issue.record("\(String(describing: unstable))")
            return
        }
        #expect(abs(seconds - 256 / AcousticLoop.rate) < 1e-4)
        guard case .failure(.silence) = loop.calibrate(silent, signalToNoise: 30) else {
            Issue.record("silence")
            return
        }
    }
}
