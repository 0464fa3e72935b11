// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Foundation
import TestTraits
import Testing

@testable import EarshotDiagnostics
@testable import EarshotSimulation

/// The table of docs/figures/calibration.md, which `scripts/bench calibration` prints with EARSHOT_FIGURES.
@Suite(.optimized, .enabled(if: ProcessInfo.processInfo.environment["EARSHOT_FIGURES"] != nil))
struct CalibrationFigureTests {
    private static let distances = [0.1, 0.3, 0.6, 1, 2]
    private static let ratios = [30.0, 20, 10, 0, -5, -10]

    @Test func `by air`() {
        for time in [0.2, 0.4, 0.6, 0.8] {
            var results: [Double: [(error: Double, uncertainty: Double)?]] = [:]
            for transducer in AcousticLoop.Transducer.allCases {
                for distance in Self.distances {
                    for gain in [1, 0.4] {
                        let loop = AcousticLoop(
                            reverberationTime: time, distance: distance, transducer: transducer, directGain: gain)
                        let echo = loop.echo()
                        for ratio in Self.ratios {
                            let found = try? loop.calibrate(echo, signalToNoise: ratio).get()
                            results[ratio, default: []].append(
                                found.map { (abs($0.roundTrip - loop.truth), $0.uncertainty) })
                        }
                    }
                }
            }
            for ratio in Self.ratios {
                let row = results[ratio] ?? []
                let found = row.compactMap { $0 }
                let error = found.map(\.error).max()
                #expect(error ?? 0 < 1e-3)
                #expect(found.allSatisfy { $0.error < $0.uncertainty })
                print(
                    "calibration figure: | \(time) | \(Int(ratio)) | \(found.count) of \(row.count) | "
                        + "\(error.map { String(format: "%.3f", $0 * 1e3) } ?? "-") |")
            }
        }
    }

    @Test func `by cable`() {
        let rate = AcousticLoop.rate
        let probe = ProbeSignal.samples(rate: rate)
        for ratio in Self.ratios {
            var (found, largest) = (0, 0.0)
            let fractions = [0, 0.2, 0.5, 0.7]
            for fraction in fractions {
                var response = [Float](repeating: 0, count: 1_024)
                FractionalPulse().add(at: 512 + fraction, gain: 1, to: &response)
                let captured = AcousticLoop.convolve(probe, with: response, count: probe.count + 24_000)
                let power = captured.reduce(0) { $0 + Double($1 * $1) } / Double(probe.count)
                let gain = Float((3 * power * pow(10, -ratio / 10)).squareRoot())
                let sweeps = (0..<DelayCalibration.sweepCount).map { sweep in
                    var random = SeededRandom(seed: UInt64(sweep + 7))
                    return DelayCalibration.measure(
                        ProbeCapture(
                            probe: probe, probeSampleTime: 0,
                            captured: [captured.map { $0 + gain * Float(2 * random.unit() - 1) }],
                            capturedSampleTime: 0, sampleRate: rate), through: .cable)
                }
                guard let result = try? DelayCalibration(sweeps, through: .cable, sampleRate: rate) else { continue }
                found += 1
                largest = max(largest, abs(result.roundTrip * rate - 512 - fraction))
            }
            #expect(largest < 1)
            print(
                "cable figure: | \(Int(ratio)) | \(found) of \(fractions.count) | \(String(format: "%.2f", largest)) |")
        }
    }
}
