// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestTraits
import Testing

@testable import EarshotDiagnostics

@Suite(.optimized) struct DelayCalibrationTests {
    private static let rate = 48_000.0

    private func calibrate(
        _ sweeps: [Result<Double, CalibrationError>], through path: LoopPath = .cable
    ) throws -> DelayCalibration {
        try DelayCalibration(sweeps, through: path, sampleRate: Self.rate)
    }

    @Test(arguments: [0, 0.3, 0.5, 0.8], [44_100.0, 48_000])
    func `a cable is measured to a frame, noise or not`(fraction: Double, rate: Double) throws {
        for noiseLevel in [Float(0), 0.01, 0.1] {
            let rig = try LoopRig(rate: rate, block: 128, maximumRoundTrip: 0.3)
            rig.path = Path.fractional(331 + fraction)
            var noise = Noise(seed: 9)
            rig.air = { _ in noiseLevel * noise.next() }
            let sweeps = try (0..<DelayCalibration.sweepCount).map { _ in
                DelayCalibration.measure(try rig.probe(), through: .cable)
            }
            let found = try DelayCalibration(sweeps, through: .cable, sampleRate: rate)
            let error = abs(found.roundTrip * rate - (256 + 331 + fraction))
            #expect(error < 1 && error < found.uncertainty * rate, "\(noiseLevel): \(error)")
        }
    }

    @Test func `the way through the air is subtracted, and its tolerance is a part of the uncertainty`()
        throws
    {
        let sweeps = [Result<Double, CalibrationError>](repeating: .success(0.03), count: 5)
        let near = try calibrate(sweeps, through: .air(distance: 0.343, tolerance: 0))
        #expect(abs(near.roundTrip - 0.029) < 1e-9 && near.uncertainty < 1e-3)
        let rough = try calibrate(sweeps, through: .air(distance: 0.343, tolerance: 0.343))
        #expect(abs(rough.uncertainty - near.uncertainty - 0.001) < 1e-9)
        let cable = try calibrate(sweeps)
        #expect(cable.roundTrip == 0.03 && cable.uncertainty <= 1 / Self.rate)
    }

    @Test func `four of five sweeps must agree`() throws {
        let right = Result<Double, CalibrationError>.success(0.02)
        let one = try calibrate([right, .success(0.0201), .success(0.03), .success(0.02005), right])
        #expect(abs(one.roundTrip - 0.02005) < 1e-9 && abs(one.spread - 1e-4) < 1e-9)
        #expect(throws: CalibrationError.unstable(0.03 - 0.02)) {
            try calibrate([right, right, right, .success(0.03), .success(0.03)])
        }
        // A person who moves in the room changes the way by some centimetres, but not by a metre.
        let path = LoopPath.air(distance: 0.3, tolerance: 0)
        _ = try calibrate([right, .success(0.0203), .success(0.0198), right, right], through: path)
        #expect(throws: CalibrationError.self) {
            try calibrate([right, .success(0.023), .success(0.017), right, right], through: path)
        }
    }

    @Test func `the most frequent failure is the reason of a refusal`() throws {
        let right = Result<Double, CalibrationError>.success(0.02)
        let one = try calibrate([right, right, .failure(.noise), right, right])
        #expect(one.roundTrip == 0.02)
        #expect(throws: CalibrationError.clipping) {
            try calibrate([.failure(.noise), right, .failure(.clipping), .failure(.clipping), right])
        }
        #expect(throws: CalibrationError.lostFrames) { try calibrate([]) }
    }

    @Test(arguments: RoundTripErrorTests.inputs.indices) func `an open loop is refused by cable and by air`(
        index: Int
    ) throws {
        let input = RoundTripErrorTests.inputs[index]
        for path in [LoopPath.cable, .air(distance: 0.3, tolerance: 0.1)] {
            let rig = try LoopRig(rate: Self.rate, block: 256, maximumRoundTrip: 0.3)
            rig.air = input.air
            // A click may be taken for the end of a sweep once, but not five times.
            let sweeps = try (0..<DelayCalibration.sweepCount).map { _ in
                DelayCalibration.measure(try rig.probe(), through: path)
            }
            #expect(throws: CalibrationError.self, "\(input.name)") { try calibrate(sweeps, through: path) }
        }
    }
}
