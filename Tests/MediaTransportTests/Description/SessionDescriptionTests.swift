// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import Testing

@Suite struct SessionDescriptionTests {
    private let formats = [
        MediaFormat.aac(configuration: [0x12, 0x08, 0x56, 0xE5, 0x00]), .opus(channelCount: 2, bitRate: 48_000),
        .pcm(sampleRate: 48_000),
    ]

    @Test(arguments: [2.5, 5, 10, 20, 64.0 / 48], ["127.0.0.1", "2001:db8::1"])
    func whatIsWrittenIsReadBack(packetTime: Double, address: String) throws {
        let address = try #require(IPAddress(address))
        let offer = SessionDescription.offer(
            formats: formats, address: address, port: 5_004, packetTime: packetTime, sessionID: .max)
        #expect(try SessionDescription(parsing: offer.description) == offer)
    }

    @Test func offerReadsAsTheRFCsSay() throws {
        let offer = SessionDescription.offer(
            formats: formats, address: .loopback, port: 5_004, packetTime: 2.5, sessionID: 7)
        let lines = offer.description.split(separator: "\r\n").map(String.init)
        #expect(
            lines == [
                "v=0", "o=- 7 1 IN IP4 127.0.0.1", "s=Earshot", "c=IN IP4 127.0.0.1", "t=0 0",
                "m=audio 5004 RTP/AVP 96 97 98", "a=rtpmap:96 MPEG4-GENERIC/44100/1",
                "a=fmtp:96 streamtype=5; profile-level-id=41; mode=AAC-hbr; sizelength=13; indexlength=3; "
                    + "indexdeltalength=3; config=120856e500",
                "a=rtpmap:97 opus/48000/2", "a=fmtp:97 sprop-stereo=1; stereo=1; maxaveragebitrate=48000",
                "a=rtpmap:98 L16/48000/1", "a=ptime:2.5", "a=rtcp-mux", "a=sendrecv",
            ])
    }

    @Test func descriptionOfFFmpegIsUnderstood() throws {
        let text = """
            v=0
            o=- 0 0 IN IP4 127.0.0.1
            s=No Name
            c=IN IP4 127.0.0.1
            t=0 0
            a=tool:libavformat 59.27.100
            m=audio 5004 RTP/AVP 97
            b=AS:64
            a=rtpmap:97 MPEG4-GENERIC/44100/1
            a=fmtp:97 profile-level-id=1;mode=AAC-hbr;sizelength=13;indexlength=3;indexdeltalength=3; config=119056E500
            """
        let description = try SessionDescription(parsing: text)
        #expect(description.formats[0].codec == .aac)
        #expect(description.formats[0].configuration == [0x11, 0x90, 0x56, 0xE5, 0x00])
        #expect(description.otherSessionAttributes == ["tool:libavformat 59.27.100"])
        #expect(!description.multiplexesRTCP && description.direction == .sendReceive)
        #expect(try SessionDescription(parsing: text.split(separator: "\n").joined(separator: "\r\n")) == description)
    }

    @Test(arguments: [("IP4", "studio-1.example.com"), ("IP6", "a.example")])
    func `an origin can contain a host name`(type: String, host: String) throws {
        let text = "v=0\no=- 1 2 IN \(type) \(host)\nc=IN IP4 10.0.0.1\nm=audio 9 RTP/AVP 10\n"
        let description = try SessionDescription(parsing: text)
        #expect(description.origin.sessionID == 1 && description.origin.address.isUnspecified)
        #expect(description.address == .v4(0x0A00_0001))
    }

    @Test func `payload types that collide with RTCP are skipped together with their attributes`() throws {
        let text = """
            v=0
            c=IN IP4 10.0.0.1
            m=audio 9 RTP/AVP 72 96 95
            a=rtpmap:72 L16/48000/1
            a=fmtp:72 x=1
            a=rtpmap:96 opus/48000/2
            a=rtpmap:95 L16/48000/1
            """
        #expect(try SessionDescription(parsing: text).formats.map(\.payloadType) == [96])
    }

    @Test func mediaLinesOverrideTheSessions() throws {
        let text =
            "v=0\nc=IN IP4 10.0.0.1\na=sendonly\nm=audio 9 RTP/AVP 10 0 96\nc=IN IP6 ::1\na=recvonly\na=maxptime:20\n"
            + "a=candidate:x\n"
        let description = try SessionDescription(parsing: text)
        #expect(description.address == .loopbackV6 && description.direction == .receiveOnly)
        #expect(description.formats.map(\.description) == ["L16/44100/2", "PCMU/8000/1"], "96 is not explained")
        #expect(description.maximumPacketTime == 20 && description.otherMediaAttributes == ["candidate:x"])
    }

    @Test(arguments: [
        ("", 0, SDPError.Reason.missing("v=0")),
        ("o=- 1 1 IN IP4 1.2.3.4", 1, .wrongVersion),
        ("v=1", 1, .wrongVersion),
        ("v=0\nv=0", 2, .wrongVersion),
        ("v=0\nhello", 2, .notALine),
        ("v=0\n\nX=1", 3, .notALine),
        ("v=0\nc=IN IP4 1.2.3.4", 0, .missing("m=audio")),
        ("v=0\nm=audio 1 RTP/AVP 0", 0, .missing("c=")),
        ("v=0\no=- 1 1 IN IP4 ::1", 2, .badValue("'o=NAME ID VERSION IN IP4|IP6 ADDRESS'")),
        ("v=0\no=- 1 1 IN IP4 1.2.3.400", 2, .badValue("'o=NAME ID VERSION IN IP4|IP6 ADDRESS'")),
        ("v=0\no=- 1 1 IN IP5 a.example", 2, .badValue("'o=NAME ID VERSION IN IP4|IP6 ADDRESS'")),
        ("v=0\no=- -1 1 IN IP4 1.2.3.4", 2, .badValue("'o=NAME ID VERSION IN IP4|IP6 ADDRESS'")),
        ("v=0\nc=IN IP4 1.2.3", 2, .badValue("'c=IN IP4|IP6 ADDRESS', the address a number")),
        ("v=0\nc=IN IP6 1.2.3.4", 2, .badValue("'c=IN IP4|IP6 ADDRESS', the address a number")),
        ("v=0\nc=IN IP6 fe80::1%1", 2, .badValue("'c=IN IP4|IP6 ADDRESS', the address a number")),
        ("v=0\nt=0", 2, .badValue("'t=START STOP'")),
        ("v=0\nm=audio", 2, .badValue("'m=audio PORT RTP/AVP TYPE…'")),
        ("v=0\nm=audio 65536 RTP/AVP 0", 2, .badValue("a port of 0 to 65535")),
        ("v=0\nm=audio +5 RTP/AVP 0", 2, .badValue("a port of 0 to 65535")),
        ("v=0\nm=audio 5 RTP/AVP 128", 2, .badValue("payload types of 0 to 127, each once")),
        ("v=0\nm=audio 5 RTP/AVP 96 96", 2, .badValue("payload types of 0 to 127, each once")),
        ("v=0\nm=video 5 RTP/AVP 96", 2, .notAudio("video")),
        ("v=0\nm=audio 5 RTP/SAVP 96", 2, .unsupportedTransport("RTP/SAVP")),
        ("v=0\nc=IN IP4 1.2.3.4\nm=audio 5 RTP/AVP 96", 3, .noFormat),
        ("v=0\nc=IN IP4 1.2.3.4\nm=video 5 A 1\nm=application 7 B 2", 3, .notAudio("video")),
        ("v=0\nm=audio 5 RTP/AVP 0\nm=audio 7", 3, .badValue("'m=audio PORT RTP/AVP TYPE…'")),
        ("v=0\nm=audio 5 RTP/AVP 0\na=rtpmap:0 PCMU", 3, .badValue("'a=rtpmap:TYPE NAME/RATE[/CHANNELS]'")),
        ("v=0\nm=audio 5 RTP/AVP 0\na=rtpmap:0 A/0", 3, .badValue("'a=rtpmap:TYPE NAME/RATE[/CHANNELS]'")),
        ("v=0\nm=audio 5 RTP/AVP 0\na=fmtp:0", 3, .badValue("'a=fmtp:TYPE NAME=VALUE; …'")),
        ("v=0\nm=audio 5 RTP/AVP 0\na=ptime:nan", 3, .badValue("milliseconds")),
        ("v=0\nm=audio 5 RTP/AVP 0\na=ptime:0", 3, .badValue("milliseconds")),
        ("v=0\ns=\0", 0, .notText),
    ])
    func malformedOnesNameTheirLine(text: String, line: Int, reason: SDPError.Reason) {
        let error = #expect(throws: SDPError.self) { try SessionDescription(parsing: text) }
        #expect(error?.line == line && error?.reason == reason)
    }

    @Test func sizeIsBounded() {
        let error = #expect(throws: SDPError.self) {
            try SessionDescription(parsing: [UInt8](repeating: 65, count: 65_537))
        }
        #expect(error?.reason == .tooLarge(65_537))
    }

    @Test func parametersWithoutANameAreDropped() throws {
        let text = "v=0\nc=IN IP4 1.2.3.4\nm=audio 9 RTP/AVP 10\na=fmtp:10 a; = ;=b; c=;d==e ; f = g\n"
        let description = try SessionDescription(parsing: text)
        let parameters = description.formats[0].parameters
        #expect(parameters.map(\.name) == ["a", "c", "d", "f"])
        #expect(parameters.map(\.value) == ["", "", "=e", "g"])
        #expect(try SessionDescription(parsing: description.description) == description)
    }

    @Test func furtherAudioIsRefused() throws {
        let text =
            "v=0\nc=IN IP4 1.2.3.4\na=group:BUNDLE a b\nm=audio 5 RTP/AVP 10\na=mid:a\nm=audio 7/2 RTP/AVP 0\n"
            + "c=IN IP6 ::1\na=mid:b\na=mid:c\na=recvonly\n"
        let offer = try SessionDescription(parsing: text)
        #expect(offer.mediaID == "a" && offer.bundle == ["a", "b"] && offer.direction == .sendReceive)
        #expect(!offer.address.isV6, "the second's connection is its own")
        let answer = try SessionDescription.answer(
            to: offer, supporting: [.pcm(sampleRate: 44_100, channelCount: 2)], address: .loopback, port: 6,
            sessionID: 2)
        #expect(answer.bundle == ["a"] && answer.mediaBehind.map(\.port) == [0])
        #expect(answer.description.hasSuffix("m=audio 0 RTP/AVP 0\r\na=mid:b\r\n"))
    }

    @Test func aNameCannotSmuggleInALine() throws {
        var offer = SessionDescription.offer(formats: formats, address: .loopback, port: 1, sessionID: 1)
        offer.name = "x\r\nm=video 1 RTP/AVP 1"
        #expect(try SessionDescription(parsing: offer.description).formats == formats)
    }
}

@Suite struct NegotiationTests {
    private let aac = MediaFormat.aac(configuration: [0x12, 0x08])
    private let opus = MediaFormat.opus()
    private let pcm = MediaFormat.pcm(sampleRate: 48_000)

    private func offer(_ formats: [MediaFormat]) -> SessionDescription {
        .offer(formats: formats, address: .loopback, port: 5_004, packetTime: 2.5, sessionID: 1)
    }

    private func answer(_ offer: SessionDescription, _ formats: [MediaFormat], _ codec: Codec? = nil) throws
        -> SessionDescription
    {
        try .answer(
            to: offer, supporting: formats, preferring: codec, address: .loopback, port: 6_000, sessionID: 2)
    }

    @Test func firstOfferedFormatBothCanDoIsChosen() throws {
        var ours = MediaFormat.opus(payloadType: 111, channelCount: 2)
        let offer = offer([aac, opus, pcm])
        let answer = try answer(offer, [pcm, ours])
        ours.payloadType = 97
        #expect(answer.formats == [ours], "our parameters, the offer's number")
        #expect(answer.packetTime == 2.5 && answer.port == 6_000)
        #expect(try offer.format(chosenBy: answer) == ours)
    }

    @Test func requiredCodecWinsOverOrder() throws {
        #expect(try answer(offer([aac, opus, pcm]), [aac, opus, pcm], .pcm).formats == [pcm])
    }

    @Test func errorsNameBothSidesFormats() throws {
        let error = #expect(throws: NegotiationError.self) { try answer(offer([aac, pcm]), [opus]) }
        let text = try #require(error?.description)
        #expect(text.contains("MPEG4-GENERIC/44100/1, L16/48000/1") && text.contains("opus/48000/2"))
        #expect(throws: NegotiationError.self) { try answer(offer([aac, pcm]), [aac, pcm], .opus) }
        #expect(throws: NegotiationError.self) { try answer(offer([pcm]), [.pcm(sampleRate: 44_100)]) }
        #expect(throws: NegotiationError.self) {
            try answer(offer([pcm]), [.pcm(sampleRate: 48_000, channelCount: 2)])
        }
    }

    @Test func formatsOfNoKnownCodecNeverMatch() {
        let other = MediaFormat(payloadType: 0, encodingName: "PCMU", clockRate: 8_000, channelCount: 1)
        #expect(throws: NegotiationError.self) { try answer(offer([other]), [other]) }
    }

    @Test func directionIsMirrored() throws {
        var offer = offer([pcm])
        offer.direction = .sendOnly
        #expect(try answer(offer, [pcm]).direction == .receiveOnly)
    }

    @Test func refusedAndForeignAnswersAreErrors() throws {
        let offer = offer([pcm])
        var answer = try answer(offer, [pcm])
        answer.port = 0
        #expect(throws: NegotiationError.noAudio) { try offer.format(chosenBy: answer) }
        answer.port = 1
        answer.formats = [opus]
        #expect(throws: NegotiationError.self) { try offer.format(chosenBy: answer) }
    }

    @Test func aacNeedsItsModeAndConfiguration() {
        #expect(aac.codec == .aac && aac.configuration == [0x12, 0x08])
        for (name, value) in [("mode", "AAC-lbr"), ("sizelength", "6"), ("config", "12z0"), ("config", "123")] {
            var format = aac
            for i in format.parameters.indices where format.parameters[i].name == name {
                format.parameters[i].value = value
            }
            #expect(format.codec == nil, "\(name)=\(value)")
        }
    }

}
