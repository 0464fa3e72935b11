// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDevices
import EarshotCall
import EarshotMediaTransport
import Foundation
import TestSupport
import Testing

@testable import EarshotLiveCall
@testable import EarshotRooms

/// The codec and the device of a running call.
@Suite(.timeLimit(.minutes(10))) struct LiveCallFormatTests {
    private static let (ann, cid) = (CoreRig.id(1), CoreRig.id(3))

    private static func format(_ codec: Codec, frames: Int = 480) -> CallConfiguration {
        CallConfiguration(
            codec: codec, streamRate: 48_000, channelCount: 1, framesPerPacket: frames, bitRate: 48_000,
            payloadType: 97, deviceRate: 48_000, deviceBlock: 256)
    }

    private static func call(
        _ codec: Codec, frames: Int = 480, missing: Set<Codec> = []
    ) -> LiveCallCore.Observation.Media {
        var media = LiveCallCore.Observation.Media(format: format(codec, frames: frames))
        media.missingCodecs = missing
        return media
    }

    /// Bob in a call with Ann and Cid.
    private static func rig() -> CoreRig {
        var rig = CoreRig()
        rig.joinAsGuest()
        rig.change(to: [1, 2, 3].map { CoreRig.member($0) })
        rig.startSound()
        for id in [ann, cid] {
            rig.handle(.room(.transport(CoreRig.member(UInt64(id.number)), .open(since: rig.now))))
            rig.observation.calls[id] = call(.opus)
        }
        rig.wait(0.1)
        return rig
    }

    @Test func `the preferred codec is in the snapshot, and media with everybody is negotiated again`() throws {
        var rig = Self.rig()
        #expect(rig.snapshot.preferredCodec == nil && rig.snapshot.packetMilliseconds == nil)
        #expect(try rig.perform(.setCodec(.opus, frameMilliseconds: 5)).room == ["renegotiate 1 3"])
        #expect(rig.snapshot.preferredCodec == .opus && rig.snapshot.packetMilliseconds == 5)
        try rig.perform(.setCodec(nil))
        #expect(rig.snapshot.preferredCodec == nil && rig.snapshot.packetMilliseconds == nil)
        // Before anybody is there, nothing is negotiated.
        var alone = CoreRig { $0.staysAlone = true }
        alone.host()
        #expect(try alone.perform(.setCodec(.pcm)).room == [] && alone.snapshot.preferredCodec == .pcm)
    }

    @Test(
        arguments: [(3, 2.5), (-1, 2.5), (9, 10), (1e300, 20), (.nan, nil), (.infinity, nil)] as [(Double, Double?)])
    func `a packet length is the nearest possible one`(wanted: Double, expected: Double?) throws {
        var rig = Self.rig()
        try rig.perform(.setCodec(.opus, frameMilliseconds: wanted))
        #expect(rig.snapshot.packetMilliseconds == expected)
    }

    @Test func `a new format is reported once, and the beginning of a call is not one`() {
        var rig = Self.rig()
        func changes() -> [String] {
            rig.events.compactMap { event in
                guard case .formatChanged(let participant, let format) = event.kind else { return nil }
                return "\(participant.id) \(format.codec) \(format.framesPerPacket)"
            }
        }
        #expect(changes() == [])
        rig.observation.calls[Self.ann] = Self.call(.pcm, frames: 256)
        rig.wait(0.2)
        rig.observation.calls[Self.ann] = Self.call(.pcm, frames: 128)
        rig.wait(0.2)
        #expect(changes() == ["1 pcm 256", "1 pcm 128"] && rig.snapshot[Self.ann]?.format?.framesPerPacket == 128)
    }

    @Test func `a format that changes before the transport is open is that with which the call begins`() {
        var rig = CoreRig()
        rig.joinAsGuest()
        for codec in [Codec.opus, .pcm] {
            rig.observation.calls[Self.ann] = Self.call(codec)
            rig.wait(0.1)
        }
        rig.handle(.room(.transport(CoreRig.member(1), .open(since: rig.now))))
        let formats = rig.events.compactMap { event in
            switch event.kind {
            case .callBegan(_, let format): "began \(format.codec)"
            case .formatChanged(_, let format): "changed \(format.codec)"
            default: nil
            }
        }
        #expect(formats == ["began pcm"])
    }

    @Test func `a participant without the codec is named, and a codec that nobody has is refused`() throws {
        var rig = Self.rig()
        try rig.perform(.setCodec(.aac))
        func missing() -> [String] {
            rig.events.compactMap { event in
                guard case .negotiationFailed(let participant, let error) = event.kind,
                    case .codecUnavailable(let codec)? = error as? CommandRefusal
                else { return nil }
                return "\(participant.id) \(codec)"
            }
        }
        rig.observation.calls[Self.ann] = Self.call(.opus, missing: [.aac])
        rig.observation.calls[Self.cid] = Self.call(.aac, frames: 1_024)
        rig.wait(0.3)
        #expect(missing() == ["1 aac"] && rig.snapshot[Self.ann]?.negotiationFailure == nil)
        // Cid still has it, so that it may be preferred again.
        #expect(rig.refusal(of: .setCodec(.aac)) == nil)
        rig.wait(0.1)
        #expect(missing() == ["1 aac", "1 aac"])
        try rig.perform(.setCodec(.pcm))
        rig.observation.calls[Self.cid] = Self.call(.pcm, missing: [.aac])
        rig.wait(0.1)
        let revision = rig.snapshot.revision
        #expect(rig.refusal(of: .setCodec(.aac)) == .codecUnavailable(.aac))
        #expect(rig.snapshot.preferredCodec == .pcm && rig.snapshot.revision == revision)
    }

    private struct Parts {
        let room = TestRoom()
        let media = TestMedia()
        let device = TestDevice()
        let call: LiveCall

        init() throws {
            var configuration = LiveCall.Configuration()
            configuration.staysAlone = true
            call = try LiveCall(configuration, room: room, sound: (media, device))
        }
    }

    @Test func `the codec reaches the media before it is negotiated, and a refused one leaves no trace`() async throws {
        let parts = try Parts()
        try parts.call.perform(.setCodec(.opus, frameMilliseconds: 2.5))
        #expect(parts.media.asked.last == "codec opus 2.5")
        parts.media.refuse(.aac)
        #expect(throws: CommandRefusal.codecUnavailable(.aac)) { try parts.call.perform(.setCodec(.aac)) }
        #expect(parts.call.snapshot.preferredCodec == .opus && parts.media.asked.last == "codec opus 2.5")
        try parts.call.perform(.setCodec(nil))
        #expect(parts.media.asked.last == "codec auto")
        await parts.call.close()
        #expect(!parts.room.asked.contains { $0.hasPrefix("renegotiate") })
    }

    @Test func `the device moves, and an unknown one is refused`() async throws {
        let parts = try Parts()
        try parts.call.perform(.setDevice(input: "a", output: nil))
        #expect(throws: CommandRefusal.deviceUnavailable(.noDevice(name: "missing", near: []))) {
            try parts.call.perform(.setDevice(input: "missing", output: nil))
        }
        try parts.call.perform(.setDevice(input: nil, output: nil))
        #expect(parts.device.requestedDevices == ["a, default", "default, default"])
        await parts.call.close()
        #expect(throws: CommandRefusal.ended) { try parts.call.perform(.setDevice(input: "b", output: nil)) }
        #expect(parts.device.requestedDevices.count == 2)
    }
}
