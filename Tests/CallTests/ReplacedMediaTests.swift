// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport
import EarshotPlayout
import EarshotSimulation
import Testing

@testable import EarshotCall

/// Media that replace or continue others after a negotiation.
@Suite struct ReplacedMediaTests {
    /// A call with PCM, in which Ann's noise takes 50 ms to Bob.
    private static func call() throws -> VirtualCall {
        let call = try VirtualCall()
        call.delay = { _, _ in 0.05 }
        call.a.says = { 0.3 * speechLikeNoise($0) }
        call.run(until: 1)
        return call
    }

    /// Negotiates AAC, which needs another playout.
    private static func change(_ call: VirtualCall) throws {
        for end in call.ends { try end.session.setCodec(.aac, opusFrameMilliseconds: nil) }
        try call.describe()
    }

    @Test func `packets of the former format that are on their way are played as without a change`() throws {
        let (plain, changed) = (try Self.call(), try Self.call())
        try Self.change(changed)
        for call in [plain, changed] { call.run(until: 1.1) }
        let (expected, heard) = (plain.b.heard(0.9..<1.045), changed.b.heard(0.9..<1.045))
        let isSame = expected == heard
        #expect(isSame && heard.suffix(2_000).contains { abs($0) > 0.01 })
    }

    @Test func `the counts of the former playout stay in the statistics`() throws {
        let call = try Self.call()
        func packets() -> Int { call.b.session.statistics(of: call.a.id)?.playout.packets ?? 0 }
        let before = packets()
        try Self.change(call)
        call.run(until: 1.5)
        #expect(before > 300 && packets() > before, "\(before), then \(packets())")
    }

    // MARK: Parts

    private static func peer(_ type: UInt8, _ codec: Codec, stream: Bool = false) throws -> MediaPeer {
        let configuration = CallConfiguration(
            codec: codec, streamRate: 48_000, channelCount: 1, framesPerPacket: codec == .pcm ? 128 : 480,
            bitRate: 64_000, payloadType: type, deviceRate: 48_000, deviceBlock: 128)
        let session = RTPSession(
            ssrc: 1, cname: "end", payloadType: type, clockRate: 48_000, firstSequenceNumber: 1, firstTimestamp: 0)
        return try MediaPeer(
            configuration, stream: stream ? StreamEncoder(configuration) : nil, playout: nil, session: session)
    }

    @Test func `a packet of a new format begins it, and one that both formats accept does not`() throws {
        let (old, new) = (try Self.peer(97, .opus), try Self.peer(98, .opus))
        new.receive([PayloadFormat(payloadType: 97, codec: .opus)])
        let begins = [97, 98, 99, 200].map { type in
            [0x80, UInt8(type)].withUnsafeBytes { packet in new.begins(with: packet, after: old) }
        }
        #expect(begins == [false, true, false, false])
    }

    @Test func `a changed format remembers the missing packets of the former one`() throws {
        let (old, new) = (try Self.peer(97, .opus), try Self.peer(98, .opus))
        for sequence in [0, 2] {
            _ = old.log.arrive(
                sequence, position: 480 * sequence, frameCount: 480, at: HostTime(nanoseconds: 1_000_000_000))
        }
        new.change(from: old.past)
        #expect(new.log.isMissing(1) && !new.log.isMissing(2))
    }

    @Test func `a format whose first packet does not come is sent after a second`() throws {
        let ring = AudioRing(channelCount: 1, capacity: 24_000)
        let block = AudioBuffer(channelCount: 1, frameCapacity: 128)
        let media = CallMedia(
            core: MediaCore(captured: ring, channelCount: 1, deviceRate: 48_000, deviceBlock: 128), wakeup: Wakeup())
        let bob = PeerID(1)
        media.add(try Self.peer(97, .pcm, stream: true), as: bob)
        media.setOpen(true, to: bob)
        var now = HostTime(nanoseconds: 1_000_000_000)
        var types: [UInt8] = []
        func turn() {
            now = now.advanced(bySeconds: 128 / 48_000)
            ring.writer.write(block.channels, frameCount: 128)
            media.sendMedia(at: now) { packet, _ in
                if !(192...223).contains(packet[1]) { types.append(packet[1] & 0x7F) }
            }
        }
        turn()
        types = []
        media.add(try Self.peer(98, .pcm, stream: true), as: bob, waits: true)
        for _ in 0..<750 { turn() }
        let former = types.prefix { $0 == 97 }
        #expect(abs(Double(former.count) * 128 / 48_000 - 1) < 0.01, "\(former.count)")
        #expect(types.count > 740 && types.dropFirst(former.count).allSatisfy { $0 == 98 })
    }
}
