// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Foundation
import TestSupport
import TestTraits
import Testing

@testable import EarshotDiagnostics

/// Round trips that are known to the frame: a simulated card takes two blocks, the path between its converters the rest.
@Suite(.optimized) struct RoundTripTests {
    static let rates = [44_100.0, 48_000]
    static let blocks = [16, 64, 256, 470, 4096]

    @Test(arguments: rates, blocks) func `the loop delay is measured to a tenth of a frame`(rate: Double, block: Int)
        throws
    {
        for delay in [0, 1, 137] {
            let rig = try LoopRig(rate: rate, block: block, maximumRoundTrip: 0.5)
            rig.path = Path.delay(delay)
            let found = try rig.measure()
            #expect(abs(found.frames - Double(2 * block + delay)) < 0.1)
            #expect(abs(found.levelDecibels) < 0.05 && !found.isInverted && found.confidence > 0.9)
            let stated = try #require(rig.loopback.statedDelay)
            #expect(abs(stated.roundTrip + Double(delay) / rate - found.seconds) < 0.1 / rate)
        }
    }

    @Test(arguments: rates, blocks) func `an inverted loop at −40 dB is measured even under noise 40 dB below it`(
        rate: Double, block: Int
    ) throws {
        let rig = try LoopRig(rate: rate, block: block, maximumRoundTrip: 0.5)
        rig.path = Path.delay(73, gain: -0.01)
        var noise = Noise(seed: UInt64(block))
        rig.air = { _ in 0.001 * noise.next() * 0.01 }  // 40 dB under what comes back
        let found = try rig.measure()
        #expect(abs(found.frames - Double(2 * block + 73)) < 0.1)
        #expect(found.isInverted && abs(found.levelDecibels + 40) < 0.2)
    }

    @Test func `noise as loud as the probe does not prevent the measurement`() throws {
        let rig = try LoopRig(rate: 48_000, block: 256)
        rig.path = Path.delay(73)
        var noise = Noise(seed: 5)
        rig.air = { _ in 0.1 * noise.next() }
        let found = try rig.measure()
        #expect(abs(found.frames - Double(2 * 256 + 73)) < 0.1)
    }

    @Test(arguments: [0.1, 0.25, 0.5, 0.7, 0.9]) func `a fractional delay is measured to a tenth of a frame`(
        fraction: Double
    ) throws {
        for rate in [44_100.0, 48_000, 8_000, 96_000] {
            let rig = try LoopRig(rate: rate, block: 128)
            rig.path = Path.fractional(200 + fraction)
            let found = try rig.measure()
            #expect(abs(found.frames - (256 + 200 + fraction)) < 0.1, "\(rate) Hz")
        }
    }

    @Test func `the direct sound is measured in a room, not its echoes`() throws {
        let rig = try LoopRig(rate: 48_000, block: 128)
        rig.path = Path.room(150, rate: 48_000)
        let found = try rig.measure()
        #expect(abs(found.frames - (256 + 150)) < 2)
    }

    @Test func `the extra delay and the gain are excluded from the measurement`() throws {
        let rig = try LoopRig(rate: 48_000, block: 64)
        rig.path = Path.delay(10)
        rig.loopback.extraDelayFrameCount = 4_800
        rig.loopback.gain = 0.2
        rig.run(seconds: 0.2)
        let found = try rig.measure()
        #expect(abs(found.frames - 138) < 0.1)
        #expect(abs((rig.loopback.statedDelay?.total ?? 0) - (0.1 + 128 / 48_000.0)) < 1e-9)
    }

    @Test func `the input that hears the probe is chosen among several`() throws {
        var capture = try LoopRig(rate: 48_000, block: 64, maximumRoundTrip: 0.2).probe()
        var noise = Noise(seed: 3)
        let silence = capture.captured[0]
        var echo = silence
        for (i, x) in capture.probe.enumerated() { echo[i + 321] += 0.5 * x }
        capture.captured = [silence, silence.map { _ in 0.1 * noise.next() }, echo]
        let found = try RoundTrip(capture)
        #expect(found.inputChannel == 2 && abs(found.frames - 321) < 0.1)
    }
}

/// Input without a valid result.
@Suite struct RoundTripErrorTests {
    static let speech = Voice(seed: 3).recorded(2, rate: 48_000, at: HostTime(nanoseconds: 0)).samples

    static let inputs: [(name: String, error: RoundTripError, air: @Sendable (Int) -> Float)] = [
        ("silence", .silent, { _ in 0 }),
        ("the faintest of noise", .silent, { Float($0 % 7 - 3) * 1e-8 }),
        ("a constant", .constant(0.25), { _ in 0.25 }),
        ("clipping", .clipped, { max(-1, min(1, 2 * sine($0, frequency: 440, rate: 48_000, amplitude: 1))) }),
        ("a tone", .noLoop, { sine($0, frequency: 1_000, rate: 48_000, amplitude: 0.5) }),
        ("hum", .noLoop, { sine($0, frequency: 50, rate: 48_000, amplitude: 0.5) }),
        ("a click", .noLoop, { $0 == 30_000 ? 0.9 : 0 }),
        ("a short tone", .noLoop, { (30_000..<32_400).contains($0) ? sine($0, frequency: 900, rate: 48_000) : 0 }),
        ("speech", .noLoop, { speech[$0 % speech.count] }),
        ("no number", .silent, { _ in .nan }),
    ]

    @Test(arguments: inputs.indices) func `an open loop gives an error`(index: Int) throws {
        let input = Self.inputs[index]
        let rig = try LoopRig(rate: 48_000, block: 256)
        rig.air = input.air
        #expect(throws: input.error, "\(input.name)") { try rig.measure() }
    }

    @Test(arguments: 1...20) func `noise alone gives an error`(seed: UInt64) throws {
        let rig = try LoopRig(rate: 48_000, block: 4096, maximumRoundTrip: 0.3)
        var noise = Noise(seed: seed)
        rig.air = { _ in 0.1 * noise.next() }
        #expect(throws: RoundTripError.noLoop) { try rig.measure() }
    }

    @Test func `lost frames interrupt a probe, and a new one succeeds`() throws {
        let rig = try LoopRig(rate: 48_000, block: 256)
        rig.path = Path.delay(5)
        rig.loopback.startProbe()
        rig.run(seconds: 0.4)
        rig.skip(cycles: 3)
        #expect(throws: RoundTripError.interrupted) { try rig.loopback.takeProbe() }
        let again = try rig.loopback.takeProbe()
        #expect(again == nil)
        let found = try rig.measure()
        #expect(abs(found.frames - 517) < 0.1)
    }

    @Test func `invalid captures are rejected`() throws {
        let good = try LoopRig(rate: 48_000, block: 256, maximumRoundTrip: 0.1).probe()
        var short = good
        short.captured = [Array(good.captured[0].prefix(good.probe.count))]
        var none = good
        none.captured = []
        var early = good
        early.capturedSampleTime = good.probeSampleTime - 1
        var empty = good
        empty.probe = []
        var far = good
        far.capturedSampleTime = .max
        far.probeSampleTime = .min
        for capture in [short, none, early, empty, far] {
            #expect(throws: RoundTripError.tooShort) { try RoundTrip(capture) }
        }
    }
}

@Suite struct RoundTripMeasurementTests {
    static func roundTrip(_ milliseconds: Double) throws -> RoundTrip {
        let rig = try LoopRig(rate: 48_000, block: 24, maximumRoundTrip: 0.1)
        rig.path = Path.delay(Int(milliseconds * 48) - 48)
        return try rig.measure()
    }

    @Test func `the median and the spread of several probes are reported`() throws {
        let trips = try [5.0, 9, 6].map { Result<RoundTrip, RoundTripError>.success(try Self.roundTrip($0)) }
        let all = try RoundTripMeasurement(trips + [.failure(.interrupted)])
        #expect(abs(all.seconds - 0.006) < 1e-6 && abs(all.spread - 0.004) < 1e-6)
        #expect(all.failedProbeCount == 1 && all.roundTrips.count == 3 && !all.isInverted)
    }

    @Test func `a measurement in which most probes failed is an error`() throws {
        let one = Result<RoundTrip, RoundTripError>.success(try Self.roundTrip(5))
        #expect(throws: RoundTripError.noLoop) {
            try RoundTripMeasurement([one, .failure(.noLoop), .failure(.noLoop), .failure(.interrupted)])
        }
        #expect(throws: RoundTripError.silent) { try RoundTripMeasurement([one, .failure(.silent)]) }
        #expect(throws: RoundTripError.tooShort) { try RoundTripMeasurement([]) }
    }
}
