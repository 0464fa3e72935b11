// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport
import EarshotPlayout
import TestSupport
import TestTraits
import Testing

@testable import EarshotCall

/// The look-ahead of a new Opus encoder, whose first packet of 10 ms does not show it.
@Suite(.optimized) struct EncoderLookaheadTests {
    private static func call(_ codec: Codec, _ milliseconds: Double? = nil) throws -> VirtualCall {
        let call = try VirtualCall {
            $0.codec = nil
            ($0.allowsRepair, $0.changesRate) = (true, true)
        }
        for end in call.ends { end.says = { sine($0, frequency: 150, rate: 48_000, amplitude: 0.25) } }
        try call.a.session.setCodec(codec, opusFrameMilliseconds: milliseconds)
        try call.describe()
        return call
    }

    private static func playout(_ call: VirtualCall, at end: Int) throws -> PlayoutStatistics {
        try #require(call.ends[end].session.statistics(of: call.ends[1 - end].id)).playout
    }

    /// Between the offer and the answer only the offer tells how long the packets will be.
    @Test(arguments: [2.5, 5]) func `the offerer knows the look-ahead of short packets before the answer`(
        milliseconds: Double
    ) throws {
        let call = try Self.call(.pcm)
        call.run(until: 4)
        let before = try Self.playout(call, at: 0)
        try call.a.session.setCodec(.opus, opusFrameMilliseconds: milliseconds)
        let answer = try call.b.session.answer(call.a.session.offer(to: call.b.id), from: call.a.id)
        // The first packet of the new encoder is late, as if it had the longer look-ahead.
        var isLate = true
        call.delay = { end, _ in
            defer { if end == 1 { isLate = false } }
            return end == 1 && isLate ? 0.0075 : 0.005
        }
        call.run(until: 4.03)
        try call.a.session.accept(answer, from: call.b.id)
        call.run(until: 4.3)
        let after = try Self.playout(call, at: 0)
        #expect(after.framesPerPacket == Int(milliseconds * 48) && after.missingPackets == 0)
        // A look-ahead of 120 frames, a part of a block, and the time for which later packets wait for the end of a block.
        // With the longer look-ahead all of the first packet's lateness would count.
        let growth = (after.targetDepth - before.targetDepth) * 48_000
        #expect(growth < 200, "\(growth) frames")
    }

    @Test func `a remote peer's longer packets have their look-ahead though this side keeps short ones`() throws {
        let call = try Self.call(.opus, 2.5)
        try call.b.session.setCodec(.opus, opusFrameMilliseconds: 5)
        try call.b.session.accept(
            call.a.session.answer(call.b.session.offer(to: call.a.id), from: call.b.id), from: call.a.id)
        call.run(until: 4)
        let before = try Self.playout(call, at: 1)
        try call.a.session.setCodec(.opus, opusFrameMilliseconds: 20)
        let answer = try call.b.session.answer(call.a.session.offer(to: call.b.id), from: call.a.id)
        call.run(until: 4.03)
        try call.a.session.accept(answer, from: call.b.id)
        call.run(until: 5)
        let after = try Self.playout(call, at: 1)
        #expect(after.framesPerPacket == 960)
        // One packet, and 312 instead of 120 frames.
        let concealed = after.concealedFrames - before.concealedFrames
        #expect(concealed <= 960 + 192 && after.skips - before.skips == 1, "\(concealed) frames")
    }

    /// On a slow link packets are longer than described.
    @Test(arguments: [(nil, 0, 312), (120, 0, 120), (120, 312, 312), (312, 120, 312)])
    func `a first packet has the described look-ahead, or the longer one of the packets before`(
        described: Int?, received: Int, expected: Int
    ) throws {
        let call = try Self.call(.opus, 10)
        let configuration = try #require(call.a.session.statistics(of: call.b.id)).configuration
        let session = RTPSession(
            ssrc: 1, cname: "end", payloadType: configuration.payloadType, clockRate: 48_000, firstSequenceNumber: 1,
            firstTimestamp: 0)
        let peer = try MediaPeer(configuration, stream: nil, playout: nil, session: session)
        (peer.describedLookahead, peer.receivedLookahead) = (described, received)
        #expect(peer.lookahead(.opus, frames: 480, isFirst: true) == expected)
        #expect(peer.lookahead(.opus, frames: 120, isFirst: true) == 120)
        #expect(peer.lookahead(.pcm, frames: 480, isFirst: true) == 0)
        #expect(peer.lookahead(.opus, frames: 480, isFirst: false) == 312 && peer.receivedLookahead == 312)
    }
}
