// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioCodecs
import EarshotMediaTransport
import EarshotPlayout
import TestSupport
import Testing

@testable import EarshotCall

/// A port's client, called as by the port's thread.
@Suite struct CallMediaTests {
    private final class Rig {
        let configuration = CallConfiguration(
            codec: .pcm, streamRate: 48_000, channelCount: 1, framesPerPacket: 128, bitRate: 0, payloadType: 98,
            deviceRate: 48_000, deviceBlock: 128)
        let ring = AudioRing(channelCount: 1, capacity: 24_000)
        let block = AudioBuffer(channelCount: 1, frameCapacity: 128)
        let media: CallMedia
        var now = HostTime(nanoseconds: 1_000_000_000)
        /// For each packet sent: the peer, its source number, and whether it was a goodbye.
        var sent: [(peer: PeerID, ssrc: UInt32, isGoodbye: Bool)] = []

        init() {
            media = CallMedia(
                core: MediaCore(captured: ring, channelCount: 1, deviceRate: 48_000, deviceBlock: 128),
                wakeup: Wakeup())
        }

        func add(_ ssrc: UInt32, as peer: PeerID) throws {
            let session = RTPSession(
                ssrc: ssrc, cname: "end", payloadType: 98, clockRate: 48_000, firstSequenceNumber: 1,
                firstTimestamp: 0)
            media.add(
                try MediaPeer(
                    configuration, stream: StreamEncoder(configuration), playout: Playout(configuration.playout),
                    session: session), as: peer)
        }

        /// Runs the thread once after the next microphone block. Returns what was sent.
        func turn() -> [(peer: PeerID, ssrc: UInt32, isGoodbye: Bool)] {
            now = now.advanced(bySeconds: 128 / 48_000)
            ring.writer.write(block.channels, frameCount: 128)
            sent = []
            media.sendMedia(at: now) { self.take($0, $1) }
            return sent
        }

        func leave(_ peer: PeerID) -> [(peer: PeerID, ssrc: UInt32, isGoodbye: Bool)] {
            sent = []
            media.leave(peer, at: now) { self.take($0, $1) }
            return sent
        }

        private func take(_ packet: UnsafeRawBufferPointer, _ peer: PeerID) {
            let isReport = (192...223).contains(packet[1])
            let at = isReport ? 4 : 8
            let ssrc = packet[at..<at + 4].reduce(0) { $0 << 8 | UInt32($1) }
            sent.append((peer, ssrc, isReport))
        }
    }

    private let peer = PeerID(3)

    @Test func `a remote peer receives packets while its path is open, and a goodbye when it is removed`() throws {
        let rig = Rig()
        try rig.add(1, as: peer)
        #expect(rig.turn().isEmpty)
        rig.media.setOpen(true, to: peer)
        #expect(rig.turn().map(\.ssrc) == [1])
        let last = rig.leave(peer)
        #expect(last.count == 3 && last.allSatisfy { $0.isGoodbye && $0.ssrc == 1 })
        #expect(rig.turn().isEmpty)
        #expect(rig.media.statistics(of: peer)?.rtp.packetsSent == 1)
        rig.media.end(peer)
        #expect(rig.turn().isEmpty && rig.leave(peer).isEmpty)
    }

    /// Commands to the port and commands to the call reach the thread in different ways.
    @Test(arguments: [0, 1, 2, 3])
    func `a remote peer that rejoins at once is not removed together with its previous stream`(
        leaves: Int
    ) throws {
        let rig = Rig()
        try rig.add(1, as: peer)
        rig.media.setOpen(true, to: peer)
        _ = rig.turn()
        // The port releases the peer before, between or after the commands to the call.
        if leaves == 0 { _ = rig.leave(peer) }
        rig.media.end(peer)
        if leaves == 1 { _ = rig.leave(peer) }
        if leaves == 3 { _ = rig.turn() }
        try rig.add(2, as: peer)
        if leaves == 2 {
            let goodbyes = rig.turn().filter(\.isGoodbye)
            #expect(goodbyes.map(\.ssrc) == [1, 1, 1])
        }
        if leaves >= 2 { _ = rig.leave(peer) }
        #expect(rig.turn().isEmpty)
        rig.media.setOpen(true, to: peer)
        #expect(rig.turn().map(\.ssrc) == [2])
        #expect(rig.turn().map(\.ssrc) == [2])
    }

    @Test func `a renegotiated stream keeps its SSRC, also after a suspension`() throws {
        let rig = Rig()
        try rig.add(1, as: peer)
        rig.media.setOpen(true, to: peer)
        _ = rig.turn()
        try rig.add(2, as: peer)
        #expect(rig.turn().map(\.ssrc) == [1])
        rig.media.suspend(peer)
        #expect(rig.turn().isEmpty)
        try rig.add(3, as: peer)
        #expect(rig.turn().map(\.ssrc) == [1])
        // A peer that was removed permanently is a new one when it returns.
        rig.media.suspend(peer)
        rig.media.end(peer)
        try rig.add(4, as: peer)
        #expect(rig.turn().map(\.ssrc) == [4])
    }

    @Test func `a failed encoder is reported, and the media thread may sleep`() throws {
        let ring = AudioRing(channelCount: 1, capacity: 24_000)
        let media = CallMedia(
            core: MediaCore(captured: ring, channelCount: 1, deviceRate: 44_100, deviceBlock: 1_024),
            wakeup: Wakeup())
        let configuration = CallConfiguration(
            codec: .aac, streamRate: 44_100, channelCount: 1, framesPerPacket: 1_024, bitRate: 64_000, payloadType: 96,
            deviceRate: 44_100, deviceBlock: 1_024)
        let session = RTPSession(
            ssrc: 1, cname: "end", payloadType: 96, clockRate: 44_100, firstSequenceNumber: 1, firstTimestamp: 0)
        let stream = try StreamEncoder(configuration)
        media.add(try MediaPeer(configuration, stream: stream, playout: nil, session: session), as: peer)
        // From here on it accepts no sound.
        let encoder = try #require(stream.encoder as? AACInCalls.Encoder).encoder
        _ = try encoder.flush()
        let block = AudioBuffer(channelCount: 1, frameCapacity: 1_024)
        var now = HostTime(nanoseconds: 1_000_000_000)
        for _ in 0..<4 {
            ring.writer.write(block.channels, frameCount: 1_024)
            now = now.advanced(bySeconds: 0.06)
            media.sendMedia(at: now) { _, _ in }
        }
        #expect(media.failure != nil)
        #expect(ring.reader.heldFrames > 0 && !media.hasMedia)
    }

    @Test func `the capture ring stays alive for the port's thread after the call has gone`() {
        weak var ring: AudioRing?
        var owner: AudioRing? = AudioRing(channelCount: 1, capacity: 24_000)
        ring = owner
        let media = owner.map {
            CallMedia(
                core: MediaCore(captured: $0, channelCount: 1, deviceRate: 48_000, deviceBlock: 128), wakeup: Wakeup())
        }
        owner = nil
        #expect(ring != nil)
        #expect(media?.hasMedia == false)
    }

    @Test(arguments: [48_000.0, 44_100])
    func `the media thread is woken for each complete packet, with PCM for each block`(rate: Double) throws {
        func hasMedia(_ codec: Codec, afterBlocks count: Int) throws -> Bool {
            let configuration = CallConfiguration(
                codec: codec, streamRate: codec == .pcm ? rate : 48_000, channelCount: 1,
                framesPerPacket: codec == .pcm ? 128 : 480, bitRate: 64_000, payloadType: 98, deviceRate: rate,
                deviceBlock: 128)
            let ring = AudioRing(channelCount: 1, capacity: 24_000)
            let block = AudioBuffer(channelCount: 1, frameCapacity: 128)
            let session = RTPSession(
                ssrc: 1, cname: "end", payloadType: 98, clockRate: 48_000, firstSequenceNumber: 1, firstTimestamp: 0)
            var core = MediaCore(captured: ring, channelCount: 1, deviceRate: rate, deviceBlock: 128)
            core.add(
                try MediaPeer(configuration, stream: StreamEncoder(configuration), playout: nil, session: session),
                as: PeerID(1))
            var sent = 0
            try core.sendCaptured(at: HostTime(nanoseconds: 0)) { _, _ in sent += 1 }
            for _ in 0..<count { ring.writer.write(block.channels, frameCount: 128) }
            let isWoken = ring.writer.hasAwaited
            #expect(core.hasCaptured == isWoken)
            try core.sendCaptured(at: HostTime(nanoseconds: 0)) { _, _ in sent += 1 }
            #expect((sent > 0) == isWoken, "woken for what there is to send")
            return isWoken
        }
        #expect(try !hasMedia(.pcm, afterBlocks: 0) && hasMedia(.pcm, afterBlocks: 1))
        // The resampler's own delay compensates for the shorter packet.
        #expect(try !hasMedia(.opus, afterBlocks: 3) && hasMedia(.opus, afterBlocks: 4))
    }
}
