// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import EarshotSimulation
import Testing

@testable import EarshotCall

@Suite struct CallPreferencesTests {
    private func preferences(
        _ codec: Codec?, channels: Int = 1, frame: Double? = nil, rate: Double = 48_000, block: Int = 256
    ) -> CallPreferences {
        CallPreferences(
            codec: codec, channelCount: channels, opusFrameMilliseconds: frame, deviceRate: rate, deviceBlock: block)
    }

    static let codecChoices: [Codec?] = [nil, .opus, .pcm, .aac]

    @Test(arguments: codecChoices, codecChoices)
    func `peers agree on a codec that both accept, or the negotiation fails`(
        host: Codec?, guest: Codec?
    ) throws {
        if let host, let guest, host != guest {
            #expect(throws: NegotiationError.self) {
                try CallSimulation.negotiate(host: preferences(host), guest: preferences(guest))
            }
            return
        }
        let (a, b) = try CallSimulation.negotiate(host: preferences(host), guest: preferences(guest))
        #expect(a.codec == host ?? guest ?? .opus)
        #expect(a.codec == b.codec && a.streamRate == b.streamRate && a.payloadType == b.payloadType)
        #expect(a.channelCount == 1 && b.channelCount == 1)
        #expect(a.framesPerPacket == b.framesPerPacket)
        #expect(a.remoteAudioSpecificConfig.isEmpty == (a.codec != .aac))
        #expect(a.remoteAudioSpecificConfig == b.remoteAudioSpecificConfig)
    }

    @Test(arguments: [(60.0, 960), (20, 960), (19, 480), (10, 480), (5, 240), (3, 120), (1, 120)])
    func `Opus packets are no longer than the remote peer's maximum packet time`(longest: Double, frames: Int) throws {
        var remote = SessionDescription.offer(
            formats: [.opus(channelCount: 1)], address: .loopback, port: 9, packetTime: nil, sessionID: 1)
        remote.maximumPacketTime = longest
        let mine = remote.formats[0]
        let configuration = try preferences(.opus, frame: 20).configuration(mine: mine, remote: remote, format: mine)
        #expect(configuration.framesPerPacket == frames)
    }

    @Test func `the error for no common codec names the codecs of both peers`() {
        let error = #expect(throws: NegotiationError.self) {
            try CallSimulation.negotiate(host: preferences(.pcm), guest: preferences(.opus))
        }
        let line = error?.description ?? ""
        #expect(line.lowercased().contains("opus") && line.contains("L16"))
        #expect(!line.contains("\n"))
    }

    @Test(arguments: [(44_100.0, 48_000.0), (48_000, 44_100), (96_000, 48_000), (48_000, 8_000), (8_000, 192_000)])
    func `PCM is sent and received at the sample rate of the offer`(host: Double, guest: Double) throws {
        let (a, b) = try CallSimulation.negotiate(
            host: preferences(.pcm, rate: host, block: 256), guest: preferences(.pcm, rate: guest, block: 256))
        #expect(a.streamRate == guest && b.streamRate == guest)
        #expect(a.deviceRate == host && b.deviceRate == guest)
        // Each end's packet is its own block, at the stream's sample rate.
        #expect(b.framesPerPacket == 256)
        #expect(abs(Double(a.framesPerPacket) - 256 * guest / host) <= 0.5)
    }

    @Test(arguments: [8_000.0, 44_100, 48_000, 96_000]) func `AAC is sent at 44,100 Hz at any device rate`(
        rate: Double
    ) throws {
        let (a, b) = try CallSimulation.negotiate(host: preferences(.aac, rate: rate), guest: preferences(.aac))
        #expect(a.streamRate == 44_100 && b.streamRate == 44_100)
        #expect(a.framesPerPacket == 1_024 && a.bitRate == 64_000)
        #expect(a.remoteAudioSpecificConfig.starts(with: [0x12, 0x08]))  // AAC-LC, 44,100 Hz, mono
    }

    @Test(arguments: [2.5, 5, 10, 20]) func `a packet duration preferred by only one peer is used by both`(
        milliseconds: Double
    ) throws {
        let frames = Int(milliseconds * 48)
        let (a, b) = try CallSimulation.negotiate(
            host: preferences(.opus), guest: preferences(.opus, frame: milliseconds))
        #expect(a.framesPerPacket == frames && b.framesPerPacket == frames)
        let (c, d) = try CallSimulation.negotiate(
            host: preferences(.opus, frame: milliseconds), guest: preferences(.opus))
        #expect(c.framesPerPacket == frames && d.framesPerPacket == frames)
    }

    @Test func `each peer sends its own preferred packet duration`() throws {
        let (a, b) = try CallSimulation.negotiate(
            host: preferences(.opus, frame: 2.5), guest: preferences(.opus, frame: 20))
        #expect(a.framesPerPacket == 120 && b.framesPerPacket == 960)
    }

    @Test(arguments: [Codec.opus, .pcm, .aac]) func `two stereo peers negotiate stereo`(codec: Codec) throws {
        let (a, b) = try CallSimulation.negotiate(
            host: preferences(codec, channels: 2), guest: preferences(codec, channels: 2))
        #expect(a.channelCount == 2 && b.channelCount == 2)
    }

    @Test(arguments: [Codec.pcm, .aac]) func `mono against stereo is a negotiation error with PCM and AAC`(codec: Codec)
    {
        #expect(throws: NegotiationError.self) {
            try CallSimulation.negotiate(host: preferences(codec, channels: 1), guest: preferences(codec, channels: 2))
        }
    }

    @Test func `an answer with a codec that was not offered is refused`() throws {
        let offer = try preferences(.opus).offer(address: .loopback, port: 1, sessionID: 1)
        let other = try preferences(.pcm).offer(address: .loopback, port: 1, sessionID: 1)
        let answer = try preferences(.pcm).answer(to: other, address: .loopback, port: 2, sessionID: 2)
        #expect(throws: NegotiationError.self) { try offer.format(chosenBy: answer) }
    }
}
