// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport
import EarshotPlayout
import EarshotSimulation
import Foundation
import TestSupport
import TestTraits
import Testing

@testable import EarshotCall

/// Cards with different clocks, by sample rate and by drift: neither end's buffer fills up, runs empty or changes speed.
@Suite struct CallRatesTests {
    struct Clocks: CustomTestStringConvertible, Sendable {
        var codec: Codec
        var rates: (Double, Double)
        var drifts: (Double, Double)
        var testDescription: String {
            "\(codec), \(Int(rates.0)) Hz \(drifts.0) ppm against \(Int(rates.1)) Hz \(drifts.1) ppm"
        }
    }

    static let clocks = [
        Clocks(codec: .pcm, rates: (44_100, 48_000), drifts: (100, -100)),
        Clocks(codec: .pcm, rates: (44_100, 48_000), drifts: (-100, 100)),
        Clocks(codec: .opus, rates: (44_100, 48_000), drifts: (100, -100)),
        Clocks(codec: .aac, rates: (44_100, 48_000), drifts: (-100, 100)),
        Clocks(codec: .pcm, rates: (48_000, 48_000), drifts: (100, -100)),
        Clocks(codec: .aac, rates: (96_000, 32_000), drifts: (0, 0)),
    ]

    /// Ten minutes: every ten seconds begin with two seconds of a speech-like signal, by which the delay is measured, and
    /// continue with a sine.
    @Test(.optimized, arguments: clocks)
    func `ten minutes with different clocks keep pitch and delay, without overrun or underrun`(clocks: Clocks) throws {
        var setup = CallSetup(codec: clocks.codec, rates: clocks.rates, drifts: clocks.drifts)
        func says(_ rate: Double) -> CallSetup.Sound {
            let second = Int(rate)
            return { frame, _ in
                frame / second % 10 < 2 ? speechLikeNoise(frame) : sine(frame, frequency: 440, rate: rate)
            }
        }
        setup.says = says(clocks.rates.0)
        setup.guestSays = says(clocks.rates.1)
        var rig = try CallSimulation(setup)
        let early = 30.0
        let late = 590.0
        try rig.run(until: 34)
        let firstDelays = try (0..<2).map { try rig.mouthToEar(from: $0, early..<(early + 2)).milliseconds }
        try rig.run(until: 600)
        for end in rig.peers {
            let playout = end.playout.statistics
            #expect(end.statistics.rtp.packetsMissing == 0 && end.statistics.captureLostFrames == 0)
            let started = end.history.last { $0.elapsed < 2 }?.statistics
            #expect(playout.missingPackets == started?.missingPackets ?? 0)
            #expect(playout.latePackets == started?.latePackets ?? 0)
            #expect(playout.restarts == 0)
            #expect(playout.concealedFrames == started?.concealedFrames ?? 0, "nothing made up after the start")
            #expect(playout.skips == started?.skips ?? 0)
            let delays = end.history.filter { $0.elapsed > 20 }.map(\.statistics.delay)
            #expect((delays.max() ?? 1) - (delays.min() ?? 0) < 0.0035)
        }
        for from in 0..<2 {
            let delay = try rig.mouthToEar(from: from, late..<(late + 2)).milliseconds
            #expect(abs(delay - firstDelays[from]) < 2, "\(firstDelays[from]) ms, then \(delay) ms")
            // 440 Hz by the speaker's clock; the listener's clock turns it into the frequency in true time.
            let sender = rig.peers[from].card.configuration
            let ear = rig.peers[1 - from]
            let heard = ear.heard((late + 3)..<(late + 8)).samples
            let frequency = 440 * sender.trueSampleRate / sender.sampleRate
            let seen = sineFrequency(heard, near: frequency, rate: ear.card.configuration.trueSampleRate)
            // A sixth of a cent; the estimated drift may be as far off while packets and blocks beat.
            #expect(abs(seen / frequency - 1) < 100e-6, "pitch is off by \((seen / frequency - 1) * 1e6) ppm")
        }
    }
}

/// Returns the frequency of a sine, from its phase at both ends.
func sineFrequency(_ samples: [Float], near frequency: Double, rate: Double) -> Double {
    let length = Int(rate / 2)
    func phase(_ start: Int) -> Double {
        var (re, im) = (0.0, 0.0)
        for i in 0..<length {
            let angle = 2 * Double.pi * frequency * Double(start + i) / rate
            let window = 0.5 - 0.5 * cos(2 * Double.pi * Double(i) / Double(length))
            re += Double(samples[start + i]) * window * cos(angle)
            im -= Double(samples[start + i]) * window * cos(angle - Double.pi / 2)
        }
        return atan2(im, re)
    }
    let distance = samples.count - length
    var turn = phase(distance) - phase(0)
    turn -= (turn / (2 * Double.pi)).rounded() * 2 * Double.pi
    return frequency + turn / (2 * Double.pi) * rate / Double(distance)
}
