// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotDiagnostics
import EarshotMediaTransport
import Foundation
import TestSupport
import TestTraits
import Testing

@testable import EarshotCall

/// Plain RTP with ffmpeg and GStreamer, in both directions at once. Our session description tells them about our stream, theirs
/// tells us about their stream. The received sound is compared with the sent sound on both sides.
@Suite(.serialized) struct PlainRTPTests {
    private static let seconds = 5
    private static let (listener, speaker) = (PeerID(1), PeerID(2))

    private static let codecs = [Codec.aac, .opus, .pcm]

    @Test(.realTime, .needs("ffmpeg"), arguments: codecs) func `ffmpeg and Earshot hear each other over plain RTP`(
        codec: Codec
    ) throws {
        try talk(with: .ffmpeg, codec)
    }

    @Test(.realTime, .needs("gst-launch-1.0"), arguments: codecs)
    func `GStreamer and Earshot hear each other over plain RTP`(codec: Codec) throws {
        try talk(with: .gstreamer, codec)
    }

    private func talk(with program: OtherProgram, _ codec: Codec) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "earshot-rtp-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        func path(_ name: String) -> String { folder.appending(path: name).path }

        let end = try SpeakingEnd(says: babble(seconds: Self.seconds, voice: 3), seconds: 8) { $0.codec = codec }
        let client = try #require(end.session.client)
        let port = try PlainPort(client)
        defer { port.stop() }

        // It listens: our offer describes the stream and the port to expect it on. ffmpeg uses the next port for RTCP.
        let place = try ReservedPort.next(count: 2)
        var ours = try end.session.offer(to: Self.listener).plain
        ours.address = .loopback
        ours.port = place
        try ours.description.write(toFile: path("ours.sdp"), atomically: true, encoding: .utf8)
        let hearing = try program.listener(path("ours.sdp"), output: path("heard.f32"))
        var answer = ours
        answer.direction = .receiveOnly
        answer.profile = .dtlsSAVPF  // the session knows no other; how it is sent is the port's
        try end.session.accept(SessionDescription(parsing: answer.description), from: Self.listener)

        // It speaks: its description is the offer.
        let voice = babble(seconds: Self.seconds, voice: 7)
        try voice.withUnsafeBytes { Data($0) }.write(to: folder.appending(path: "said.f32"))
        usleep(400_000)  // for the listener to have its port open
        let speaking = try program.speaker(
            path("said.f32"), as: codec, to: port.port, description: path("theirs.sdp"))
        var offer: SessionDescription?
        #expect(
            eventually {
                offer = program.description(from: speaking, path("theirs.sdp"))
                return offer != nil
            }, "\(speaking.errors)")
        var theirs = try #require(offer)
        #expect(theirs.profile == .avp && theirs.formats.first?.codec == codec)
        theirs.direction = .sendOnly
        let reply = try end.session.answer(theirs, from: Self.speaker)
        #expect(reply.direction == .receiveOnly && reply.formats.first?.payloadType == theirs.formats[0].payloadType)

        port.add(Self.speaker, listensAt: nil)
        port.add(Self.listener, listensAt: place)
        try end.session.start()
        usleep(useconds_t(Self.seconds) * 1_000_000)
        let statistics = end.session.statistics(of: Self.speaker)
        end.session.stop()
        port.stop()
        speaking.stop()
        hearing.signal(SIGINT)
        _ = hearing.wait(seconds: 2)

        let heardByThem = try Data(contentsOf: folder.appending(path: "heard.f32")).withUnsafeBytes {
            Array($0.bindMemory(to: Float.self))
        }
        let least = codec == .pcm ? 0.97 : 0.85
        let toThem = Similarity(
            of: TimedSignal(samples: heardByThem, sampleRate: 48_000, firstFrameTime: .now()), with: end.saidSignal,
            within: 3)
        print("plain RTP \(codec) to \(program): \(toThem)")
        #expect(toThem.seconds(above: least) >= 1, "\(heardByThem.count) frames: \(toThem); \(hearing.errors)")
        let toUs = Similarity(
            of: end.heardSignal,
            with: TimedSignal(samples: voice, sampleRate: 48_000, firstFrameTime: .now()), within: 3)
        print("plain RTP \(codec) from \(program): \(toUs); \(statistics?.playout as Any)")
        #expect(toUs.seconds(above: least) >= 1, "\(toUs); \(speaking.errors)")
        #expect(statistics?.media.corruptPackets == 0 && statistics?.media.rtp.packetsLost == 0)
        #expect((statistics?.media.rtp.packetsReceived ?? 0) > 20)
    }
}
