// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport
import EarshotPlayout
import EngineMeasures
import Foundation
import TestSupport
import TestTraits
import Testing

@testable import EarshotCall

/// A codec or a packet length that is changed while two speak, on virtual time. Descriptions take 30 ms each way.
@Suite(.optimized) struct CodecChangeTests {
    struct Form: CustomTestStringConvertible, Sendable {
        let codec: Codec
        var frame: Double?
        var testDescription: String { "\(codec)\(frame.map { " \($0) ms" } ?? "")" }

        /// The frames of a packet; of PCM those of a block.
        var packetFrames: Int { codec == .pcm ? VirtualCall.block : Int((frame ?? 10) * 48) }
        /// The frames by which a decoder's output lags behind.
        var lookahead: Int { codec == .pcm ? 0 : packetFrames <= 240 ? 120 : 312 }
    }

    /// A call in which each says a tone.
    private static func call(_ first: Form, _ change: (inout CallPreferences) -> Void = { _ in }) throws -> VirtualCall
    {
        let call = try VirtualCall {
            $0.codec = nil
            ($0.allowsRepair, $0.changesRate) = (true, true)
            $0.latencyProfile = .sing
            change(&$0)
        }
        for (end, frequency) in zip(call.ends, [100.0, 150.0]) {
            end.says = { sine($0, frequency: frequency, rate: 48_000, amplitude: 0.25) }
        }
        try call.a.session.setCodec(first.codec, opusFrameMilliseconds: first.frame)
        try call.describe()
        return call
    }

    /// A negotiation of which each step takes 30 ms.
    private struct Signalling {
        private static let delay = 0.03
        private enum Step { case offer, answer(SessionDescription), accept(SessionDescription) }
        private var steps: [(at: Double, Step)] = []

        init(at times: [Double]) { steps = times.map { ($0, .offer) } }

        /// Takes the steps that are due, on the side of the end that offers.
        mutating func advance(_ call: VirtualCall, to now: Double, from one: Int = 0) throws {
            let (a, b) = (call.ends[one], call.ends[1 - one])
            while let index = steps.firstIndex(where: { $0.at <= now }) {
                let (time, step) = steps.remove(at: index)
                switch step {
                case .offer: steps.append((time + Self.delay, .answer(try a.session.offer(to: b.id))))
                case .answer(let offer):
                    steps.append((time + Self.delay, .accept(try b.session.answer(offer, from: a.id))))
                case .accept(let answer): try a.session.accept(answer, from: b.id)
                }
            }
        }
    }

    private static func statistics(_ call: VirtualCall, at end: Int) throws -> CallStatistics {
        try #require(call.ends[end].session.statistics(of: call.ends[1 - end].id))
    }

    /// Returns the peak above 2 kHz, where 1 is full scale. `ClickMeter` reduces a tone of 150 Hz by 67 dB.
    private static func click(_ samples: ArraySlice<Float>) -> Double {
        var meter = ClickMeter()
        for sample in samples { meter.add(sample) }
        return meter.peak
    }

    /// The limit of a click in dBFS.
    private static let clickLimit = -60.0

    @Test(arguments: [
        (Form(codec: .opus), Form(codec: .pcm)), (Form(codec: .pcm), Form(codec: .opus)),
        (Form(codec: .opus), Form(codec: .opus, frame: 2.5)),
        (Form(codec: .opus, frame: 2.5), Form(codec: .opus, frame: 20)),
        (Form(codec: .opus, frame: 2.5), Form(codec: .opus, frame: 5)),
        (Form(codec: .opus, frame: 20), Form(codec: .pcm)),
    ]) func `a change of the codec loses no packet, conceals at most one, and does not click`(
        old: Form, new: Form
    ) throws {
        let call = try Self.call(old)
        var signalling = Signalling(at: [3])
        var before: [CallStatistics] = []
        try call.run(until: 6) { now in
            if now >= 3, before.isEmpty {
                before = try (0..<2).map { try Self.statistics(call, at: $0) }
                try call.a.session.setCodec(new.codec, opusFrameMilliseconds: new.frame)
            }
            try signalling.advance(call, to: now)
        }
        for end in 0..<2 {
            let after = try Self.statistics(call, at: end)
            #expect(before[end].configuration.codec == old.codec && after.configuration.codec == new.codec)
            #expect(after.configuration.framesPerPacket == new.packetFrames)
            #expect(after.playout.framesPerPacket == new.packetFrames)
            #expect(after.media.rtp.packetsMissing == 0 && after.media.rtp.packetsIgnored == 0, "\(after.media.rtp)")
            #expect(after.media.corruptPackets == 0 && after.playout.restarts == 0)
            // A longer packet is complete later, and a longer look-ahead holds more sound back.
            // A new Opus encoder begins with a packet of 10 ms.
            let first = new.codec == .opus ? max(480, new.packetFrames) : new.packetFrames
            let most = first + max(0, new.lookahead - old.lookahead)
            let concealed = after.playout.concealedFrames - before[end].playout.concealedFrames
            #expect(concealed <= (new.packetFrames > old.packetFrames ? most : 0), "\(concealed) of \(most) frames")
            let usual = Self.click(call.ends[end].heard(2..<2.9))
            let click = Self.click(call.ends[end].heard(2.9..<3.5))
            #expect(
                click < max(pow(10, Self.clickLimit / 20), 1.5 * usual),
                "\(20 * log10(click)) dBFS, before \(20 * log10(usual))")
            // The tone's level is 0.177, in each tenth of a second.
            for start in stride(from: 2.9, to: 5.9, by: 0.1) {
                let heard = call.ends[end].heard(start..<start + 0.1)
                let level = (heard.reduce(0) { $0 + Double($1 * $1) } / Double(heard.count)).squareRoot()
                #expect(level > 0.15 && level < 0.19, "\(level) at \(start)")
            }
        }
    }

    @Test(arguments: [(Codec.opusCustom, 0.025), (.aac, 0.12)])
    func `a codec with another playout is heard after a short gap`(
        codec: Codec, longest: Double
    ) throws {
        let call = try Self.call(Form(codec: .opus))
        var signalling = Signalling(at: [3])
        var isChanged = false
        try call.run(until: 6) { now in
            if now >= 3, !isChanged {
                isChanged = true
                try call.a.session.setCodec(codec, opusFrameMilliseconds: nil)
            }
            try signalling.advance(call, to: now)
        }
        for end in 0..<2 {
            #expect(try Self.statistics(call, at: end).configuration.codec == codec)
            // A tone of 100 Hz has a peak in each 10 ms.
            let heard = call.ends[end].heard(2.9..<5.9)
            var (gap, quiet) = (0, 0)
            for sample in heard {
                quiet = abs(sample) < 0.12 ? quiet + 1 : 0
                gap = max(gap, quiet)
            }
            #expect(Double(gap) / 48_000 < longest, "\(Double(gap) / 48) ms")
            #expect(Self.click(heard) < 0.01, "\(20 * log10(Self.click(heard))) dBFS")
        }
    }

    /// A changed device makes no callbacks for some time. A voice with another codec continues as the test of streams measures it.
    @Test(arguments: [Codec.aac, .opus, .pcm], [0.03, 0.06, 0.2])
    func `a gap of the captured sound does not click`(codec: Codec, seconds: Double) throws {
        let call = try Self.call(Form(codec: codec))
        call.a.isStopped = { (3..<3 + seconds).contains($0) }
        call.run(until: 5)
        let usual = Self.click(call.b.heard(1.9..<2.9))
        let click = Self.click(call.b.heard(2.9..<3.9))
        #expect(
            click < max(pow(10, Self.clickLimit / 20), 1.5 * usual),
            "\(20 * log10(click)) dBFS, before \(20 * log10(usual))")
        let heard = call.b.heard(4..<4.9)
        let level = (heard.reduce(0) { $0 + Double($1 * $1) } / Double(heard.count)).squareRoot()
        #expect(level > 0.15 && level < 0.19, "\(level)")
    }

    @Test func `ten changes in a second end in the last one`() throws {
        let call = try Self.call(Form(codec: .opus))
        let forms = [Form(codec: .pcm), Form(codec: .opus, frame: 5), Form(codec: .opus, frame: 20)]
        let times = (0..<10).map { 2 + 0.1 * Double($0) }
        var signalling = Signalling(at: times)
        var next = 0
        try call.run(until: 5) { now in
            if next < times.count, now >= times[next] {
                let form = forms[(times.count - 1 - next) % 3]
                try call.a.session.setCodec(form.codec, opusFrameMilliseconds: form.frame)
                next += 1
            }
            try signalling.advance(call, to: now)
        }
        for end in 0..<2 {
            let after = try Self.statistics(call, at: end)
            #expect(after.configuration.codec == .pcm && after.playout.framesPerPacket == VirtualCall.block)
            #expect(after.media.rtp.packetsMissing == 0 && after.media.rtp.packetsIgnored == 0, "\(after.media.rtp)")
            let click = Self.click(call.ends[end].heard(1.9..<3.5))
            #expect(click < pow(10, Self.clickLimit / 20), "\(20 * log10(click)) dBFS")
        }
    }

    @Test func `both change at once, and the newest offer decides for both`() throws {
        let call = try Self.call(Form(codec: .opus))
        var (one, other) = (Signalling(at: [2]), Signalling(at: [2.1]))
        var isChanged = false
        try call.run(until: 4) { now in
            if now >= 2, !isChanged {
                isChanged = true
                try call.a.session.setCodec(.pcm, opusFrameMilliseconds: nil)
                try call.b.session.setCodec(.opus, opusFrameMilliseconds: 5)
            }
            try one.advance(call, to: now)
            try other.advance(call, to: now, from: 1)
        }
        let codecs = try (0..<2).map { try Self.statistics(call, at: $0).configuration.codec }
        #expect(codecs == [.opus, .opus])
        for end in 0..<2 { #expect(try Self.statistics(call, at: end).media.rtp.packetsIgnored == 0) }
    }

    @Test func `a remote peer that requires another codec keeps it, and the sound is undisturbed`() throws {
        var isFirst = true
        let call = try Self.call(Form(codec: .opus)) {
            if !isFirst { $0.codec = .opus }
            isFirst = false
        }
        var signalling = Signalling(at: [2])
        var before: CallStatistics?
        try call.run(until: 3) { now in
            if now >= 2, before == nil {
                before = try Self.statistics(call, at: 0)
                #expect(before?.missingCodecs.contains(.pcm) == false)
                try call.a.session.setCodec(.pcm, opusFrameMilliseconds: nil)
            }
            try signalling.advance(call, to: now)
        }
        let after = try Self.statistics(call, at: 0)
        #expect(after.configuration.codec == .opus && after.missingCodecs.contains(.pcm))
        #expect(after.playout.concealedFrames == before?.playout.concealedFrames)
        // If the other one offers, its offer shows at once what it lacks.
        _ = try call.a.session.answer(call.b.session.offer(to: call.a.id), from: call.b.id)
        #expect(try Self.statistics(call, at: 0).missingCodecs == [.pcm, .aac, .opusCustom])
    }

    @Test func `a change during the first negotiation applies to the next`() throws {
        let call = try Self.call(Form(codec: .opus))
        call.b.session.end(call.a.id)
        call.a.session.end(call.b.id)
        let offer = try call.a.session.offer(to: call.b.id)
        try call.a.session.setCodec(.pcm, opusFrameMilliseconds: nil)
        try call.a.session.accept(call.b.session.answer(offer, from: call.a.id), from: call.b.id)
        #expect(try Self.statistics(call, at: 0).configuration.codec == .opus)
        try call.describe()
        for end in 0..<2 { #expect(try Self.statistics(call, at: end).configuration.codec == .pcm) }
        // The preference also applies to answers, and to a peer that comes back.
        call.a.session.end(call.b.id)
        call.b.session.end(call.a.id)
        try call.b.session.accept(
            call.a.session.answer(call.b.session.offer(to: call.a.id), from: call.b.id), from: call.a.id)
        for end in 0..<2 { #expect(try Self.statistics(call, at: end).configuration.codec == .pcm) }
    }

    @Test func `a remote peer that prefers another codec at first has the offered one too`() throws {
        let call = try VirtualCall { $0.codec = nil }
        call.b.session.end(call.a.id)
        call.a.session.end(call.b.id)
        try call.a.session.setCodec(.pcm, opusFrameMilliseconds: nil)
        try call.b.session.setCodec(.opus, opusFrameMilliseconds: nil)
        try call.describe()
        let statistics = try Self.statistics(call, at: 0)
        #expect(statistics.configuration.codec == .opus && statistics.missingCodecs.isEmpty)
    }

    @Test func `a codec that this machine cannot encode is refused without a change`() throws {
        let call = try Self.call(Form(codec: .opus, frame: 5)) { $0.bitRate = 8_000 }
        #expect(throws: CodecError.self) { try call.a.session.setCodec(.opusCustom, opusFrameMilliseconds: nil) }
        let preferences = call.a.session.preferences
        #expect(preferences.preferredCodec == .opus && preferences.opusFrameMilliseconds == 5)
    }

    @Test func `without a preferred codec the choice is automatic again`() throws {
        let call = try Self.call(Form(codec: .pcm))
        #expect(try Self.statistics(call, at: 0).configuration.codec == .pcm)
        try call.a.session.setCodec(nil, opusFrameMilliseconds: nil)
        try call.describe()
        let statistics = try Self.statistics(call, at: 0)
        #expect(statistics.configuration.codec == .opus && statistics.configuration.framesPerPacket == 480)
    }
}
