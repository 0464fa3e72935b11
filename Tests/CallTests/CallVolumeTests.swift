// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport
import TestSupport
import Testing

@testable import EarshotCall

/// Gains and the volume of a running call, on virtual time.
@Suite struct CallVolumeTests {
    private static let level = 0.1
    /// A step of the tone plus one of a ramp from full to zero over a block.
    private static let greatestStep = Float(level * (2 * Double.pi * 300 / 48_000 + 1 / 128.0)) * 1.05

    private func call() throws -> VirtualCall {
        let call = try VirtualCall()
        call.a.says = { frame in sine(frame, frequency: 300, rate: 48_000, amplitude: Self.level) }
        call.run(until: 1)
        return call
    }

    private func level(_ call: VirtualCall) -> Double {
        call.run(until: call.now + 0.3)
        return amplitude(call.b.heard.suffix(9_600), frequency: 300)
    }

    @Test func `a gain reads back as it was set, within its limits`() throws {
        let call = try call()
        let (session, far) = (call.b.session, call.a.id)
        #expect(session.gain(of: far) == 1 && session.gain(of: PeerID(7)) == nil)
        session.setGain(0.25, of: far)
        #expect(session.gain(of: far) == 0.25 && abs(level(call) - 0.025) < 0.000_5)
        for (gain, clamped) in [(-1, 0), (.nan, 0), (-.infinity, 0), (.infinity, 1_000), (2, 2)] as [(Float, Float)] {
            session.setGain(gain, of: far)
            #expect(session.gain(of: far) == clamped)
        }
        #expect(abs(level(call) - 0.2) < 0.004)
        session.setGain(3, of: PeerID(7))
        #expect(session.gain(of: PeerID(7)) == nil)
        session.end(far)
        #expect(session.gain(of: far) == nil)
    }

    @Test func `a lasting gain applies from the first sound, and after the media were replaced`() throws {
        let call = try call()
        let (session, far) = (call.b.session, call.a.id)
        session.setLastingGain(3, of: PeerID(7))
        #expect(session.gain(of: PeerID(7)) == nil)
        session.setLastingGain(0.25, of: far)
        #expect(session.gain(of: far) == 0.25 && abs(level(call) - 0.025) < 0.000_5)
        session.end(far)
        #expect(session.gain(of: far) == nil)
        session.setLastingGain(0, of: far)
        try call.describe()
        call.b.client.setOpen(true, to: far)
        #expect(session.gain(of: far) == 0)
        let start = call.b.heard.count
        call.run(until: call.now + 0.5)
        let isSilent = call.b.heard[(start + 256)...].allSatisfy { $0 == 0 }
        #expect(isSilent)
        session.setLastingGain(1, of: far)
        #expect(abs(level(call) - 0.1) < 0.002)
    }

    @Test func `gains and volumes change over 5 ms, though a block is shorter`() throws {
        let call = try VirtualCall()
        call.a.says = { _ in Float(Self.level) }
        call.run(until: 1)
        var block = 0
        call.run(until: 3) { _ in
            block += 1
            guard block % 5 == 0 else { return }
            let gain: Float = block % 10 == 0 ? 1 : 0
            if block < 375 { call.b.session.setGain(gain, of: call.a.id) } else { call.b.session.outputVolume = gain }
        }
        let heard = call.b.heard(1..<3)
        // A ramp over a block of 128 frames has steps of level / 128.
        #expect(steepest(heard) < Float(Self.level) / 200, "\(steepest(heard))")
        #expect(heard.contains { $0 == 0 } && heard.contains { abs($0 - Float(Self.level)) < 1e-3 })
    }

    @Test func `a voice that leaves, or whose media are replaced, fades over 5 ms, though a block is shorter`() throws {
        let call = try VirtualCall()
        call.a.says = { _ in Float(Self.level) }
        call.run(until: 2)
        call.b.session.end(call.a.id)
        call.run(until: 2.2)
        try call.describe()
        call.b.client.setOpen(true, to: call.a.id)
        call.run(until: 3)
        // A fade over a block of 128 frames has steps of level / 128.
        for part in [1..<2.2, 2.2..<3] {
            let step = steepest(call.b.heard(part))
            #expect(step < Float(Self.level) / 150, "\(step)")
        }
        let heard = call.b.heard(1..<3)
        #expect(heard.contains { $0 == 0 } && abs((heard.last ?? 0) - Float(Self.level)) < 1e-3)
    }

    @Test func `the output volume scales all played sound, within its limits`() throws {
        let call = try call()
        let session = call.b.session
        #expect(session.outputVolume == 1 && abs(level(call) - 0.1) < 0.002)
        for (volume, clamped) in [(-1, 0), (.nan, 0), (.infinity, 1_000), (0.5, 0.5)] as [(Float, Float)] {
            session.outputVolume = volume
            #expect(session.outputVolume == clamped)
        }
        #expect(abs(level(call) - 0.05) < 0.001)
        session.setGain(0.5, of: call.a.id)
        #expect(abs(level(call) - 0.025) < 0.000_5)
        // The level is that of the played sound.
        #expect(abs(session.levels.heard.peak - 0.025) < 0.001)
        session.outputVolume = 0
        call.run(until: call.now + 0.1)
        let silent = call.b.heard.suffix(4_000).allSatisfy { $0 == 0 }
        #expect(silent)
        session.outputVolume = 1_000
        call.run(until: call.now + 0.1)
        let loud = call.b.heard.suffix(4_000)
        #expect((loud.max() ?? 0) > 0.9 && steepest(loud) < 0.1)
        let isBelowFullScale = loud.allSatisfy { abs($0) <= 1 }
        #expect(isBelowFullScale)
    }

    @Test func `a volume change makes no click, and a volume of 1 changes no sample`() throws {
        let (plain, changed) = (try call(), try call())
        var block = 0
        changed.run(until: 3) { _ in
            block += 1
            if block % 5 == 0 { changed.b.session.outputVolume = block % 10 == 0 ? 1 : 0 }
        }
        #expect(steepest(changed.b.heard(1..<3)) < Self.greatestStep, "\(steepest(changed.b.heard(1..<3)))")
        changed.b.session.outputVolume = 1
        changed.run(until: 4)
        plain.run(until: 4)
        let isSame = changed.b.heard(3.1..<4) == plain.b.heard(3.1..<4)
        #expect(isSame)
        #expect(steepest(plain.b.heard(3.1..<4)) > 0.003)
    }
}
