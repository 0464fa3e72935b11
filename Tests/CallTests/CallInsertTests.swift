// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport
import TestSupport
import Testing

@testable import EarshotCall

/// Inserts that a program replaces during a call, on virtual time.
@Suite struct CallInsertTests {
    enum Place: CaseIterable, Sendable { case capture, playback }

    private static let level = 0.1
    /// A step of the tone plus one of the steepest part of a fade to its opposite.
    private static let greatestStep = Float(level * (2 * Double.pi * 300 / 48_000 + 2 / 240.0)) * 1.05

    /// The first end sends a tone. The insert is at its microphone, or at the second's loudspeaker.
    private func call() throws -> VirtualCall {
        let call = try VirtualCall()
        call.a.says = { frame in sine(frame, frequency: 300, rate: 48_000, amplitude: Self.level) }
        call.run(until: 1)
        return call
    }

    private func set(_ insert: CallInsert?, at place: Place, of call: VirtualCall) {
        switch place {
        case .capture: call.a.session.captureInsert = insert
        case .playback: call.b.session.playbackInsert = insert
        }
    }

    private func insert(at place: Place, of call: VirtualCall) -> CallInsert? {
        place == .capture ? call.a.session.captureInsert : call.b.session.playbackInsert
    }

    @Test(arguments: Place.allCases)
    func `a hundred inserts exchanged while blocks are rendered cause no click and no leak`(place: Place) throws {
        let (plain, changed) = (try call(), try call())
        let living = TestInsert.Living()
        var (block, most, count) = (0, 0, 0)
        changed.run(until: 4) { _ in
            block += 1
            // Some changes fall into the previous fade, at any position in the tone.
            guard block % 7 == 0 || block % 11 == 0, count < 100 else { return }
            count += 1
            set(TestInsert.make(scale: count % 2 == 0 ? 1 : -1, living).insert, at: place, of: changed)
            most = max(most, living.value)
        }
        #expect(count == 100 && most <= 5 && living.value >= 1, "\(count) inserts, \(most) at once")
        #expect(steepest(changed.b.heard(0.5..<4)) < Self.greatestStep, "\(steepest(changed.b.heard(0.5..<4)))")
        set(nil, at: place, of: changed)
        changed.run(until: 5)
        plain.run(until: 5)
        #expect(insert(at: place, of: changed) == nil && living.value == 0, "\(living.value) are left")
        let isChanged = changed.b.heard(1..<4) != plain.b.heard(1..<4)
        let isUntouched = changed.b.heard(4.2..<5) == plain.b.heard(4.2..<5)
        #expect(isChanged && isUntouched)
    }

    @Test(arguments: Place.allCases)
    func `an insert changes the sound, and an insert set twice is still called once per block`(place: Place)
        throws
    {
        let call = try call()
        let (half, calls) = TestInsert.make(scale: 0.5)
        set(half, at: place, of: call)
        call.run(until: 1.5)
        #expect(insert(at: place, of: call) === half)
        #expect(abs(amplitude(call.b.heard.suffix(9_600), frequency: 300) - 0.05) < 0.001)
        let before = calls()
        // If it is removed and put back before a block, the render thread sees no difference.
        set(half, at: place, of: call)
        set(nil, at: place, of: call)
        set(half, at: place, of: call)
        var blocks = 0
        call.run(until: 2) { _ in blocks += 1 }
        #expect(calls() - before == blocks)
        #expect(abs(amplitude(call.b.heard.suffix(4_800), frequency: 300) - 0.05) < 0.001)
        #expect(steepest(call.b.heard(1.5..<2)) < 0.52 * Self.greatestStep)
    }

    @Test(arguments: Place.allCases) func `the fade to an insert with latency starts when its first output arrives`(
        place: Place
    ) throws {
        let call = try call()
        let (late, _) = TestInsert.make(delay: 1_003)
        #expect(abs(late.latency - 1_003 / 48_000.0) < 1e-9)
        set(late, at: place, of: call)
        call.run(until: 2)
        #expect(steepest(call.b.heard(0.9..<2)) < Self.greatestStep, "\(steepest(call.b.heard(0.9..<2)))")
        // The old sound continues for the latency: there is no silence in between.
        var quietest: Float = 1
        for start in stride(from: 48_000, to: 95_000, by: 240) {
            quietest = min(quietest, call.b.heard[start..<start + 240].map { abs($0) }.max() ?? 0)
        }
        #expect(quietest > 0.05, "\(quietest)")
        set(nil, at: place, of: call)
        call.run(until: 3)
        #expect(steepest(call.b.heard(1.9..<3)) < Self.greatestStep)
    }

    @Test func `the capture insert runs after the effects and before the mute`() throws {
        let (constant, _) = TestInsert.make(scale: 0, offset: 0.2)
        let call = try call()
        call.a.session.effects = constant
        call.a.session.captureInsert = TestInsert.make(scale: 2, offset: 0.1).insert
        call.run(until: 1.5)
        let isBoth = call.b.heard(1.2..<1.5).allSatisfy { abs($0 - 0.5) < 0.001 }
        #expect(isBoth, "\(call.b.heard.last ?? 0)")
        call.a.session.isMuted = true
        call.run(until: 2)
        let isSilent = call.b.heard(1.7..<2).allSatisfy { abs($0) < 1e-4 }
        #expect(isSilent, "\(call.b.heard.last ?? 0)")
    }

    @Test func `the playback insert runs before the volume and the peak limiter, and is metered`() throws {
        let call = try call()
        call.b.session.playbackInsert = TestInsert.make(scale: 30).insert
        call.run(until: 1.6)
        let loud = call.b.heard(1..<1.6)
        let isBelowFullScale = loud.allSatisfy { abs($0) <= 1 }
        #expect(isBelowFullScale && (loud.max() ?? 0) > 0.9)
        call.b.session.playbackInsert = TestInsert.make(scale: 0, offset: 0.25).insert
        call.run(until: 2.5)
        #expect(abs(call.b.session.levels.heard.peak - 0.25) < 0.02, "\(call.b.session.levels.heard.peak)")
        call.b.session.outputVolume = 0
        call.run(until: 3)
        let isSilent = call.b.heard(2.8..<3).allSatisfy { $0 == 0 }
        #expect(isSilent)
    }

    @Test func `an insert set while no device runs takes effect at once, and is freed when the call ends`() throws {
        let living = TestInsert.Living()
        var call: VirtualCall? = try call()
        call?.b.session.playbackInsert = TestInsert.make(living).insert
        call?.run(until: 1.1)
        for end in call?.ends ?? [] { end.session.stop() }
        #expect(living.value == 1)
        // The active one is freed before another block.
        let (kept, calls) = TestInsert.make(living)
        call?.b.session.playbackInsert = kept
        #expect(living.value == 1 && calls() == 0)
        try call?.b.session.start()
        call?.run(until: 1.2)
        #expect(calls() > 30)
        // One insert is active, and one more is ordered that no block has installed.
        call?.b.session.playbackInsert = TestInsert.make(living).insert
        call = nil
        #expect(living.value == 1, "the test's own")
        withExtendedLifetime(kept) {}
    }
}
