// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP
import EarshotAudioEngine
import EngineMeasures
import TestSupport
import TestTraits
import Testing

@testable import EarshotCall

/// Effects that are exchanged, and parameters that change, while a call sends a tone on virtual time. A click is sound above
/// 2 kHz (`ClickMeter`) that neither the sound before nor the sound after causes.
@Suite(.optimized) struct EffectExchangeTests {
    static let names = UnitType.all.map(\.description).filter { $0.component.type == .effect }.map(\.textName)

    private static let format = AudioFormat(sampleRate: 48_000, channelCount: 1)

    /// A call that sends a tone of 50 Hz, and the clicks in what the remote peer hears.
    private final class Rig {
        private let call: VirtualCall
        private var meter = ClickMeter()
        private var time = 1.0
        private(set) var chain: EffectChain?

        init(amplitude: Double) throws {
            call = try VirtualCall()
            call.a.says = { sine($0, frequency: 50, rate: 48_000, amplitude: amplitude) }
            call.run(until: time)
            _ = clicks(0.2)
        }

        func set(_ texts: [String]) throws {
            chain =
                texts.isEmpty
                ? nil
                : try EffectChain(
                    texts.map { try AudioUnitEffect.effect(parsing: $0) }, format: EffectExchangeTests.format)
            call.a.session.effects = chain.map {
                CallInsert(latency: $0.latency, callback: $0.callback, owner: $0)
            }
        }

        /// Returns the highest click in the next seconds in dBFS.
        func clicks(_ seconds: Double) -> Double {
            let start = call.b.heard.count
            time += seconds
            call.run(until: time)
            meter.restart()
            for sample in call.b.heard[start...] { meter.add(sample) }
            return meter.level
        }

        /// Returns the highest click after a change, and the highest of the sound before it and after it.
        func clicks(of change: () throws -> Void, within seconds: Double) rethrows -> (moving: Double, atRest: Double) {
            let before = clicks(0.2)
            try change()
            let moving = clicks(seconds)
            return (moving, max(before, clicks(0.6)))
        }
    }

    /// Each exchange begins 3 ms later in the tone's period than the one before. The delay's echo is heard within a second.
    @Test func `effects are set, replaced and removed without a click`() throws {
        let rig = try Rig(amplitude: 0.3)
        let chains: [[String]] =
            Self.names.map { [$0] } + [
                [], ["delay,time=0.3,feedback=60,mix=100"], ["reverb:large-hall,mix=100"], [],
                ["equalizer:voice", "compressor", "reverb,mix=30", "limiter"], ["gain,gain=-12", "delay"], ["gain"], [],
            ]
        for chain in chains {
            _ = rig.clicks(0.003)
            let (moving, atRest) = try rig.clicks(of: { try rig.set(chain) }, within: 1)
            #expect(moving < max(-60, atRest + 3), "\(chain): \(moving) dBFS, \(atRest) at rest")
        }
    }

    /// The unit's highest gain raises the tone to 0.6 of full scale. Dry and wet sound together stay below the limiter's
    /// threshold.
    @Test(arguments: names) func `a parameter that moves from its default and back does not click`(name: String) throws
    {
        let unit = try AudioUnitEffect.effect(parsing: name).unit
        let gains = unit.parameters.filter { $0.unit == .decibels }.map(\.range.upperBound)
        let rig = try Rig(amplitude: 0.6 / Double(decibelsToGain(max(0, gains.max() ?? 0))))
        try rig.set([name])
        _ = rig.clicks(0.5)
        let parameters = try #require(rig.chain).effects[0].parameters
        #expect(parameters.count == unit.parameters.count && !parameters.isEmpty)
        for parameter in parameters {
            let (range, start) = (parameter.information.range, parameter.value)
            let other = start == range.upperBound ? range.lowerBound : range.upperBound
            for value in [other, start] {
                let (moving, atRest) = rig.clicks(of: { parameter.value = value }, within: 0.3)
                #expect(
                    moving < max(-60, atRest + 3),
                    "\(parameter.information.identifier) → \(value): \(moving) dBFS, \(atRest) at rest")
            }
        }
    }

    @Test func `effects that are exchanged in each block cause no click, and are freed`() throws {
        weak var last: EffectChain?
        do {
            let call = try VirtualCall()
            call.a.says = { sine($0, frequency: 50, rate: 48_000, amplitude: 0.3) }
            call.run(until: 1)
            var count = 0
            try call.run(until: 1.5) { _ in
                count += 1
                guard count % 3 == 0 else { return }
                let name = ["reverb", "limiter", "gain,gain=-20"][count / 3 % 3]
                let chain = try EffectChain([try AudioUnitEffect.effect(parsing: name)], format: Self.format)
                last = chain
                call.a.session.effects = CallInsert(latency: chain.latency, callback: chain.callback, owner: chain)
            }
            call.a.session.effects = nil
            call.run(until: 2)
            #expect(call.a.session.effects == nil && last == nil)
            var meter = ClickMeter()
            for sample in call.b.heard(0.9..<2) { meter.add(sample) }
            #expect(meter.level < -60, "\(meter.level)")
        }
        #expect(last == nil)
    }

    @Test func `a new chain is heard after its latency, without a gap`() throws {
        let call = try VirtualCall()
        // The latency is a whole number of periods, so that the fade cancels nothing.
        call.a.says = { sine($0, frequency: 320, rate: 48_000, amplitude: 0.3) }
        call.run(until: 1)
        let chain = try EffectChain([AudioUnitEffect(.voiceChanger)], format: Self.format)
        #expect(chain.latency > 0.02)
        call.a.session.effects = CallInsert(latency: chain.latency, callback: chain.callback, owner: chain)
        call.run(until: 1.5)
        let heard = call.b.heard(0.9..<1.5)
        let quietest =
            stride(from: heard.startIndex, to: heard.endIndex - 240, by: 240)
            .map { heard[$0..<$0 + 240].map { abs($0) }.max() ?? 0 }.min() ?? 0
        #expect(quietest > 0.1, "\(quietest)")
    }
}
