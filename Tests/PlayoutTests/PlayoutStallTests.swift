// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioCodecs
import TestSupport
import TestTraits
import Testing

@testable import EarshotPlayout

/// After packets or the device were held up, the delay is normal again within a second, and only whole frames are left out.
@Suite(.optimized) struct PlayoutStallTests {
    struct Form: CustomTestStringConvertible, Sendable {
        let name: String
        let coding: RenderCodec
        let frames: Int
        var rate = 48_000.0
        var testDescription: String { name }
    }
    static let forms = [
        Form(name: "PCM of 2.5 ms", coding: .pcm, frames: 120), Form(name: "Opus of 10 ms", coding: .opus, frames: 480),
        Form(name: "Opus of 20 ms", coding: .opus, frames: 960),
        Form(name: "AAC", coding: .decoded, frames: 1_024, rate: 44_100),
    ]

    private static func product<A, B>(_ a: [A], _ b: [B]) -> [(A, B)] { a.flatMap { a in b.map { (a, $0) } } }

    private func rig(_ form: Form, _ profile: LatencyProfile) -> PlayoutRig {
        var rig = PlayoutRig(
            configuration: PlayoutConfiguration(
                coding: form.coding, streamRate: form.rate, deviceRate: form.rate, channelCount: 1,
                framesPerPacket: form.frames, latencyProfile: profile), seconds: 24)
        rig.delay = NetworkProfile.lan.delays(seed: 3)
        return rig
    }

    private func expectReturned(_ r: PlayoutRig.Result, after end: Double) throws {
        let before = try #require(r.history.last { $0.time < 15 }?.statistics.depth)
        let after = r.history.filter { $0.time > end + 1 }.map(\.statistics.depth)
        #expect((after.max() ?? 1) < before + 0.0015, "\(ms(before)), then \(ms(after.max() ?? 1))")
        #expect((after.min() ?? 1) > before - 0.0015, "\(ms(before)), then \(ms(after.min() ?? 1))")
        let late = try #require(r.history.first { $0.time > end + 1 }?.statistics.concealedFrames)
        #expect(r.statistics.concealedFrames - late < 4_800, "hardly anything is made up any more")
    }

    /// - Parameter isOvertaken: true if later packets arrive first; otherwise they wait for the held ones.
    @Test(arguments: product(forms, [LatencyProfile.sing, .talk, .listen]), [true, false])
    func `a link that stalled adds no delay a second later`(
        of call: (form: Form, profile: LatencyProfile), isOvertaken: Bool
    ) throws {
        let (form, profile) = call
        for length in [0.15, 0.5, 2, 3] {
            var rig = rig(form, profile)
            var network = NetworkProfile.lan
            network.stall = (length, 100)
            network.stallsFrom = 15
            let delays = network.delays(seed: 3)
            let released = 15 + length + 0.02
            rig.delay = { sequence, sent in
                delays(sequence, sent).map { isOvertaken || sent < 15 ? $0 : max($0, released - sent) }
            }
            let r = try rig.run()
            try expectReturned(r, after: 15 + length + 0.021)
            // Whole frames: if part of one had been left out, the sine would not be continuous.
            if form.coding != .opus {
                let tail = Array(r.output.suffix(Int(4 * form.rate)))
                #expect(sineDefect(tail, frequency: 440, rate: form.rate) < -50)
            }
        }
    }

    @Test(arguments: forms, [LatencyProfile.sing, .talk, .listen])
    func `a device that stopped for 200 ms to 3 s adds no delay a second later`(
        form: Form, profile: LatencyProfile
    ) throws {
        for length in [0.2, 3] {
            var rig = rig(form, profile)
            rig.skip = (at: 15, frames: Int(length * form.rate))
            let r = try rig.run()
            try expectReturned(r, after: 15 + length)
        }
    }
}
