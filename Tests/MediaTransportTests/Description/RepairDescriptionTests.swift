// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import EarshotMediaTransport

/// Tests the redundancy that two descriptions negotiate.
@Suite struct RepairDescriptionTests {
    private func offer(_ profile: SessionDescription.Profile = .dtlsSAVPF) -> SessionDescription {
        var offer = SessionDescription.offer(
            formats: [.opus(), .pcm(sampleRate: 44_100), .aac(configuration: [0x12, 0x08])], address: .loopback,
            port: 9, sessionID: 1, profile: profile)
        offer.offerRepair()
        return offer
    }

    private func answer(to offer: SessionDescription, _ codec: Codec = .opus) throws -> SessionDescription {
        var answer = try SessionDescription.answer(
            to: offer, supporting: [.opus(), .pcm(sampleRate: 44_100), .aac(configuration: [0x12, 0x08])],
            preferring: codec, address: .loopback, port: 9, sessionID: 2)
        answer.answerRepair(to: offer)
        return answer
    }

    private func read(_ description: SessionDescription) throws -> SessionDescription {
        let read = try SessionDescription(parsing: description.description)
        #expect(read == description)
        return read
    }

    @Test func `an offer lists the repair formats of each codec after all codecs`() throws {
        let lines = try read(offer()).description.split(separator: "\r\n").map(String.init)
        #expect(lines.contains("m=audio 9 UDP/TLS/RTP/SAVPF 97 98 96 99 100 101 102"))
        for line in [
            "a=rtpmap:99 red/48000/2", "a=fmtp:99 97/97", "a=rtpmap:100 rtx/48000/2", "a=fmtp:100 apt=97",
            "a=rtpmap:101 red/44100/1", "a=fmtp:101 98/98", "a=rtpmap:102 rtx/44100/1", "a=fmtp:102 apt=98",
            "a=rtcp-fb:97 nack", "a=rtcp-fb:98 nack", "a=rtcp-xr:pkt-loss-rle de-jitter-buffer",
            "a=fmtp:97 sprop-stereo=0; stereo=0; useinbandfec=1",
        ] {
            #expect(lines.contains(line), "\(line)")
        }
        #expect(!lines.contains { $0.hasPrefix("a=rtcp-fb:96") })
    }

    @Test(arguments: [(Codec.opus, 99, 100), (.pcm, 101, 102)])
    func `an answer accepts the repair formats of its codec`(
        codec: Codec, red: Int, rtx: Int
    ) throws {
        let offer = try read(offer())
        let answer = try read(answer(to: offer, codec))
        #expect(answer.formats.map(\.payloadType) == [codec == .opus ? 97 : 98, UInt8(red), UInt8(rtx)])
        #expect(try offer.format(chosenBy: answer).codec == codec)
        for repair in [
            SessionDescription.repair(of: answer.formats[0].payloadType, mine: offer, theirs: answer),
            SessionDescription.repair(of: answer.formats[0].payloadType, mine: answer, theirs: offer),
        ] {
            #expect(repair.redundant == UInt8(red) && repair.repeated == UInt8(rtx))
            #expect(repair.takesNACK && repair.takesReports)
        }
    }

    @Test func `AAC is negotiated without repair`() throws {
        let offer = try read(offer())
        let answer = try read(answer(to: offer, .aac))
        #expect(answer.formats.count == 1 && answer.extendedReports.isEmpty)
        #expect(SessionDescription.repair(of: 96, mine: offer, theirs: answer).isNone)
    }

    @Test func `no repair is used with a peer that does not offer it`() throws {
        let offer = try read(offer())
        let plain = try SessionDescription.answer(
            to: offer, supporting: [.opus()], address: .loopback, port: 9, sessionID: 2)
        #expect(SessionDescription.repair(of: 97, mine: offer, theirs: plain).isNone)
        var asked = plain
        asked.answerRepair(
            to: .offer(formats: [.opus()], address: .loopback, port: 9, sessionID: 1, profile: .dtlsSAVPF))
        #expect(asked == plain)
    }

    @Test func `plain RTP is negotiated without repair`() throws {
        let offer = try read(offer(.avp))
        let answer = try read(answer(to: offer))
        #expect(answer.formats.count == 1)
        #expect(SessionDescription.repair(of: 97, mine: offer, theirs: answer).isNone)
    }

    /// Chromium lists it after its format, without `rtx`, NACKs and extended reports.
    @Test func `a browser that offers redundancy gets redundancy only`() throws {
        let browser = try SessionDescription(
            parsing: "v=0\nc=IN IP4 0.0.0.0\nm=audio 9 UDP/TLS/RTP/SAVPF 111 63 9\na=rtpmap:111 opus/48000/2\n"
                + "a=rtcp-fb:111 transport-cc\na=fmtp:111 minptime=10;useinbandfec=1\na=rtpmap:63 red/48000/2\n"
                + "a=fmtp:63 111/111\na=rtpmap:9 G722/8000\n")
        let answer = try read(answer(to: browser))
        #expect(answer.formats.map(\.payloadType) == [111, 63])
        #expect(answer.formats.map(\.encodingName) == ["opus", "red"])
        let repair = SessionDescription.repair(of: 111, mine: answer, theirs: browser)
        #expect(repair.redundant == 63 && repair.repeated == nil && !repair.takesNACK && !repair.takesReports)
        #expect(browser.otherMediaAttributes == ["rtcp-fb:111 transport-cc"])
    }

    @Test(
        arguments: [
            "a=rtcp-fb:* nack", "a=rtcp-fb:97 nack", "a=rtcp-fb:98 nack", "a=rtcp-fb:97 nack pli", "a=rtcp-fb:x nack",
        ])
    func `only a generic NACK for the format is accepted`(line: String) throws {
        let text = "v=0\nc=IN IP4 1.2.3.4\nm=audio 9 RTP/AVP 97\na=rtpmap:97 opus/48000/2\n\(line)\n"
        let read = try SessionDescription(parsing: text)
        #expect(read.formats[0].takesNACK == (line.hasSuffix(" nack") && (line.contains("*") || line.contains("97"))))
        #expect(try SessionDescription(parsing: read.description) == read)
    }

    @Test(
        arguments: [
            ("red/48000/2", "98/97"), ("red/48000/2", "97/98"), ("red/48000/2", ""), ("red/8000", "97/97"),
            ("red/48000/2", "97=97"), ("rtx/48000/2", "apt=98"), ("rtx/48000/2", "97"),
        ])
    func `repair formats for another codec or for none are ignored`(map: String, parameters: String) throws {
        let text =
            "v=0\nc=IN IP4 1.2.3.4\nm=audio 9 UDP/TLS/RTP/SAVPF 97 99\na=rtpmap:97 opus/48000/2\na=rtpmap:99 \(map)\n"
            + (parameters.isEmpty ? "" : "a=fmtp:99 \(parameters)\n")
        let offer = try SessionDescription(parsing: text)
        #expect(try answer(to: offer).formats.count == 1)
    }

    @Test func `an answer with redundancy but no codec is rejected`() throws {
        let offer = offer()
        var answer = try answer(to: offer)
        answer.formats.removeFirst()
        #expect(throws: NegotiationError.self) { try offer.format(chosenBy: answer) }
    }

    /// FFmpeg uses the last `a=rtpmap` for the first format.
    @Test func `a plain RTP description has one line for each audio format and no feedback attributes`() throws {
        var offer = SessionDescription.offer(
            formats: [.pcm(sampleRate: 48_000)], address: .loopback, port: 9, sessionID: 1, profile: .dtlsSAVPF)
        offer.offerRepair()
        offer.offerRateRequests()
        #expect(offer.formats.count == 4)
        let text = offer.plain.description
        #expect(text.contains("m=audio 9 RTP/AVP 98\r\n") && text.contains("a=rtpmap:98 L16/48000"))
        #expect(text.ranges(of: "a=rtpmap").count == 1)
        #expect(!text.contains("rtcp-fb") && !text.contains("rtcp-xr") && !text.contains("reserve"))
        let plain = try read(offer.plain)
        #expect(SessionDescription.repair(of: 98, mine: offer, theirs: plain) == RTPRepair())
    }
}
