// SPDX-License-Identifier: Apache-2.0

import EarshotAudioCodecs
import EarshotMediaTransport
import EarshotSimulation
import Testing

@testable import EarshotCall

/// Tests which peers use Opus Custom, and the codec of those that do not have it.
@Suite struct OpusCustomNegotiationTests {
    private func end(
        _ codec: Codec?, channels: Int = 1, rate: Double = 48_000, block: Int = 64,
        _ change: (inout CallPreferences) -> Void = { _ in }
    ) -> CallPreferences {
        var preferences = CallPreferences(
            codec: codec, channelCount: channels, deviceRate: rate, deviceBlock: block)
        change(&preferences)
        return preferences
    }

    @Test(arguments: [(.opusCustom, nil), (nil, .opusCustom), (.opusCustom, .opusCustom)] as [(Codec?, Codec?)])
    func `Opus Custom is used if one peer requests it and the other supports it`(host: Codec?, guest: Codec?) throws {
        let (a, b) = try CallSimulation.negotiate(host: end(host), guest: end(guest))
        for side in [a, b] {
            #expect(side.codec == .opusCustom && side.streamRate == 48_000 && side.payloadType == 99)
            #expect(side.framesPerPacket == 64 && side.bitRate == 192_000)
        }
    }

    @Test func `Opus is used if no peer requests Opus Custom`() throws {
        let (a, b) = try CallSimulation.negotiate(host: end(nil), guest: end(nil))
        #expect(a.codec == .opus && b.codec == .opus)
    }

    @Test(arguments: [(Codec.opusCustom, Codec.opus), (.opus, .opusCustom)])
    func `Opus with 120-frame packets is used if one peer accepts only Opus`(host: Codec, guest: Codec) throws {
        let (a, b) = try CallSimulation.negotiate(host: end(host), guest: end(guest))
        #expect(a.codec == .opus && b.codec == .opus && a.framesPerPacket == 120 && b.framesPerPacket == 120)
    }

    @Test(arguments: [Codec.pcm, .aac]) func `negotiation fails if one peer accepts neither Opus Custom nor Opus`(
        other: Codec
    ) {
        #expect(throws: NegotiationError.self) {
            try CallSimulation.negotiate(host: end(.opusCustom), guest: end(other))
        }
        #expect(throws: NegotiationError.self) {
            try CallSimulation.negotiate(host: end(other), guest: end(.opusCustom))
        }
    }

    /// An Earshot without Opus Custom, or a browser, answers the offer.
    @Test func `a remote peer that does not know Opus Custom answers with Opus`() throws {
        var offer = try end(.opusCustom).offer(address: .loopback, port: 1, sessionID: 1)
        #expect(offer.formats.map(\.codec) == [.opusCustom, .opus] && offer.packetTime == 2.5)
        offer = try SessionDescription(parsing: offer.description)
        let answer = try SessionDescription.answer(
            to: offer, supporting: [.opus(), .pcm(sampleRate: 48_000)], address: .loopback, port: 2, sessionID: 2)
        let agreement = try end(.opusCustom).agreement(offer: offer, answer: answer)
        #expect(agreement?.configuration.codec == .opus && agreement?.configuration.framesPerPacket == 120)
        // A peer that offers only Opus gets Opus.
        let theirs = SessionDescription.offer(formats: [.opus()], address: .loopback, port: 3, sessionID: 3)
        let ours = try end(.opusCustom).answer(to: theirs, address: .loopback, port: 4, sessionID: 4)
        #expect(ours.formats.map(\.codec) == [.opus] && ours.packetTime == 2.5)
    }

    @Test(arguments: [
        (44_100.0, 44_100.0, 44_100.0), (48_000, 44_100, 44_100), (44_100, 48_000, 48_000), (96_000, 96_000, 48_000),
        (44_100, 192_000, 48_000), (48_000, 8_000, 48_000),
    ]) func `the guest's device sets the sample rate, and each peer's block sets its packet size`(
        host: Double, guest: Double, stream: Double
    ) throws {
        let (a, b) = try CallSimulation.negotiate(
            host: end(.opusCustom, rate: host, block: 256), guest: end(.opusCustom, rate: guest, block: 64))
        #expect(a.codec == .opusCustom && b.codec == .opusCustom)
        #expect(a.streamRate == stream && b.streamRate == stream)
        #expect(abs(Double(a.framesPerPacket) - 256 * stream / host) <= 0.5)
        #expect(abs(Double(b.framesPerPacket) - max(64, 64 * stream / guest)) <= 0.5)
    }

    @Test func `mono against stereo falls back to Opus`() throws {
        let (a, b) = try CallSimulation.negotiate(host: end(.opusCustom, channels: 2), guest: end(.opusCustom))
        #expect(a.codec == .opus && b.codec == .opus)
        let (c, d) = try CallSimulation.negotiate(
            host: end(.opusCustom, channels: 2), guest: end(.opusCustom, channels: 2))
        #expect(c.codec == .opusCustom && d.bitRate == 384_000)
    }

    @Test func `an unsupported bit rate falls back to Opus, and the remote peer's limit is respected`() throws {
        let (a, b) = try CallSimulation.negotiate(
            host: end(.opusCustom), guest: end(.opusCustom) { $0.bitRate = 32_000 })
        #expect(a.codec == .opus && b.codec == .opus && b.bitRate == 32_000)
        let (c, d) = try CallSimulation.negotiate(
            host: end(.opusCustom), guest: end(.opusCustom) { $0.bitRate = 96_000 })
        #expect(c.codec == .opusCustom && c.bitRate == 96_000 && d.bitRate == 96_000)
        // Each format that a remote peer requests has an encoder.
        var offer = try end(.opusCustom).offer(address: .loopback, port: 1, sessionID: 1)
        offer.formats[0].parameters.append(.init("maxaveragebitrate", "6000"))
        let answer = try end(.opusCustom).answer(to: offer, address: .loopback, port: 2, sessionID: 2)
        let configuration = try #require(try end(.opusCustom).agreement(answer: answer, to: offer)).configuration
        #expect(configuration.codec == .opusCustom && configuration.bitRate == OpusCustomEncoder.bitRates.lowerBound)
        _ = try StreamEncoder(configuration)
    }

    @Test(arguments: ["", "0", "-64", "56", "65", "128", "64.0", "99999999999999999999", "64; x=1"])
    func `an Opus Custom offer with an unsupported frame size is skipped`(frame: String) throws {
        var offer = try end(.opusCustom).offer(address: .loopback, port: 1, sessionID: 1)
        offer.formats[0].parameters = [.init("frame", frame)]
        let answer = try end(.opusCustom).answer(to: offer, address: .loopback, port: 2, sessionID: 2)
        #expect(answer.formats.map(\.codec) == [.opus])
    }

    @Test func `an answer with a frame size that was not offered is refused`() throws {
        let offer = try end(.opusCustom).offer(address: .loopback, port: 1, sessionID: 1)
        var answer = try end(.opusCustom).answer(to: offer, address: .loopback, port: 2, sessionID: 2)
        answer.formats[0].parameters = [.init("frame", "128")]
        #expect(throws: NegotiationError.self) { try end(.opusCustom).agreement(offer: offer, answer: answer) }
    }
}
