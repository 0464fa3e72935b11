// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioFiles
import Foundation
import TestSupport
import TestTraits
import Testing

/// Parses bytes in pieces of these sizes, repeated. Returns all results.
func parse(_ bytes: [UInt8], pieces: [Int] = [.max]) -> (events: [AudioStreamEvent], error: StreamParserError?) {
    var parser = AudioStreamParser()
    var events: [AudioStreamEvent] = []
    var at = 0
    var turn = 0
    do throws(StreamParserError) {
        while at < bytes.count {
            let size = min(pieces[turn % pieces.count], bytes.count - at)
            try parser.parse(Array(bytes[at..<at + size]), into: &events)
            at += size
            turn += 1
        }
        try parser.finish(into: &events)
        return (events, nil)
    } catch {
        return (events, error)
    }
}

extension [AudioStreamEvent] {
    var packets: [AudioStreamPacket] { compactMap { if case .packet(let packet) = $0 { packet } else { nil } } }
    var formats: [AudioStreamFormat] { compactMap { if case .format(let format) = $0 { format } else { nil } } }
    var skippedBytes: Int { reduce(0) { if case .skipped(let count, _) = $1 { $0 + count } else { $0 } } }
    var audibleFrames: Int { packets.reduce(0) { $0 + $1.audibleFrames.count } }
}

@Suite(.optimized) struct AudioStreamParserTests {
    /// Returns size, position and duration of each packet as another program finds them.
    private func probe(_ fixture: StreamFixture) throws -> [(size: Int, position: Int, duration: Int)] {
        let (status, output) = try run(
            "ffprobe", "-v", "error", "-show_entries", "packet=size,pos,duration", "-of", "compact=p=0",
            try fixture.path)
        #expect(status == 0)
        return output.split(separator: "\n").map { line in
            var fields: [Substring: Int] = [:]
            for field in line.split(separator: "|") {
                let parts = field.split(separator: "=")
                if parts.count == 2 { fields[parts[0]] = Int(parts[1]) }
            }
            return (fields["size"] ?? -1, fields["pos"] ?? -1, fields["duration"] ?? -1)
        }
    }

    @Test(arguments: StreamFixture.allCases.filter { $0.ending != "wav" })
    func `the packets match those that ffprobe finds`(_ fixture: StreamFixture) throws {
        let (events, error) = parse(try fixture.bytes)
        #expect(error == nil)
        #expect(events.formats.count == 1)
        #expect(events.skippedBytes == 0)
        let header = fixture.ending == "aac" ? 7 : 0
        let expected = try probe(fixture)
        let packets = events.packets
        #expect(packets.map { $0.bytes.count + header } == expected.map(\.size))
        if fixture.ending != "ogg" { #expect(packets.map(\.byteOffset) == expected.map(\.position)) }
        #expect(packets.count > 20)
    }

    @Test(arguments: StreamFixture.allCases)
    func `the events do not depend on how the bytes are split`(_ fixture: StreamFixture) throws {
        let bytes = try fixture.bytes
        let whole = parse(bytes)
        #expect(!whole.events.packets.isEmpty)
        for pieces in [[1], [7], [4_096], [1, 500, 3, 70_000, 2]] {
            let cut = parse(bytes, pieces: pieces)
            #expect(cut.events == whole.events, "\(pieces)")
            #expect(cut.error == whole.error)
        }
    }

    // The others have no such header; LAME's does not fit into frames as short as at 8 kHz.
    @Test(
        arguments: StreamFixture.allCases.filter {
            ![.lameUntagged, .lame8k, .mp2, .adts44, .adts48Mono].contains($0)
        })
    func `the decoded length is exactly the encoded length`(_ fixture: StreamFixture) throws {
        let (events, _) = parse(try fixture.bytes)
        let format = try #require(events.formats.first)
        let rate = format.packets.format.sampleRate
        let expected = Int((Double(StreamFixture.frameCount) * rate / 44_100).rounded(.up))
        let audible = events.audibleFrames
        // A program that converts the sample rate may round up or down.
        #expect(rate == 44_100 ? audible == expected : abs(audible - expected) <= 16, "\(audible) of \(expected)")
        if let told = format.frameCount, fixture != .wavPiped { #expect(told == audible) }
        var position = 0
        for packet in events.packets {
            #expect(packet.framePosition == position)
            position += packet.audibleFrames.count
        }
    }

    @Test(arguments: [
        (StreamFixture.lame8k, 8_000.0, 1, PacketFormat.Codec.mp3, 576), (.lame22k, 22_050, 2, .mp3, 576),
        (.lameCBR, 44_100, 2, .mp3, 1_152), (.mp2, 44_100, 2, .mp2, 1_152), (.adts48Mono, 48_000, 1, .aac, 1_024),
    ])
    func `format, codec and packet size are reported`(
        _ fixture: StreamFixture, rate: Double, channels: Int, codec: PacketFormat.Codec, frames: Int
    ) throws {
        let format = try #require(parse(try fixture.bytes).events.formats.first)
        #expect(format.packets.format == AudioFormat(sampleRate: rate, channelCount: channels))
        #expect(format.packets.codec == codec)
        #expect(format.packets.framesPerPacket == frames)
    }

    @Test(arguments: [
        (StreamFixture.wav8, SampleType.uint8), (.wav16, .int16), (.wav24, .int24), (.wav32, .int32),
        (.wavFloat, .float32), (.wavExtensible, .int24), (.wavPiped, .int16),
    ])
    func `WAVE packets of each sample type decode to the original samples`(_ fixture: StreamFixture, _ type: SampleType)
        throws
    {
        let (events, error) = parse(try fixture.bytes)
        #expect(error == nil)
        #expect(events.formats.first?.packets.codec == .pcm(type))
        let reader = try AudioFileReader(path: try StreamFixture.wav16.path)
        let expected = AudioBuffer(channelCount: 2, frameCapacity: StreamFixture.frameCount)
        #expect(try reader.read(into: expected.channels, frameCount: StreamFixture.frameCount) == 132_300)
        let heard = AudioBuffer(channelCount: 2, frameCapacity: StreamFixture.frameCount)
        for packet in events.packets {
            packet.bytes.withUnsafeBytes { bytes in
                guard let from = bytes.baseAddress else { return }
                type.read(
                    from, channelCount: 2, frameCount: packet.frameCount, into: heard.channels,
                    offset: packet.framePosition)
            }
        }
        let step: Float = type == .uint8 ? 1 / 128 : 1 / 32_768
        var worst: Float = 0
        for i in 0..<StreamFixture.frameCount {
            worst = max(worst, abs(heard.channels[1][i] - expected.channels[1][i]))
        }
        #expect(worst <= step)
    }

    @Test func `titles of Ogg streams are reported`() throws {
        for fixture in [StreamFixture.vorbis, .opus] {
            #expect(parse(try fixture.bytes).events.formats.first?.title == "Artist - Title")
        }
    }

    @Test func `chained Ogg streams follow each other without a gap`() throws {
        let (events, error) = parse(try StreamFixture.opus.bytes + StreamFixture.vorbis.bytes)
        #expect(error == nil)
        #expect(events.formats.map(\.packets.codec) == [.opus, .vorbis])
        #expect(events.packets.last.map { $0.framePosition + $0.audibleFrames.count } == 144_000 + 132_300)
    }

    @Test func `a parser that joins mid-stream synchronises`() throws {
        for fixture in [StreamFixture.lameCBR, .lameUntagged, .adts44, .mp2] {
            let bytes = try fixture.bytes
            let all = parse(bytes).events.packets.map(\.bytes)
            for cut in [1_000, 1_001, 5_555, 20_003] {
                let (events, error) = parse(Array(bytes.dropFirst(cut)))
                #expect(error == nil)
                let found = events.packets.map(\.bytes)
                #expect(found == Array(all.suffix(found.count)))
                #expect(found.count > 30)
                #expect(events.skippedBytes < 600)
            }
        }
    }

    @Test func `a gap in the stream loses only the packets or pages it touches`() throws {
        let limits: [(StreamFixture, Int)] = [(.lameVBR, 3), (.adts44, 3), (.opusShort, 256), (.vorbis, 60)]
        for (fixture, limit) in limits {
            let bytes = try fixture.bytes
            let all = parse(bytes).events.packets
            let middle = bytes.count / 2
            let (events, error) = parse(Array(bytes[..<middle] + bytes[(middle + 333)...]))
            #expect(error == nil)
            let found = events.packets
            #expect(found.count >= all.count - limit, "\(fixture): \(all.count - found.count) lost")
            #expect(found.suffix(5).map(\.bytes) == all.suffix(5).map(\.bytes))
            if fixture.ending == "ogg" {  // pages tell where they are
                #expect(found.last?.framePosition == all.last?.framePosition)
            }
        }
    }

    @Test(arguments: StreamFixture.allCases, 0..<4)
    func `damage gives events or a typed error, however the bytes are split`(
        _ fixture: StreamFixture, seed: UInt64
    ) throws {
        var random = SeededRandom(seed: seed)
        var bytes = try fixture.bytes
        for _ in 0..<20 {
            let at = Int(random.next() % UInt64(bytes.count))
            switch random.next() % 4 {
            case 0: bytes[at] = UInt8(truncatingIfNeeded: random.next())
            case 1: bytes.removeSubrange(at..<min(bytes.count, at + Int(random.next() % 300)))
            case 2: bytes.insert(contentsOf: (0..<50).map { _ in UInt8(truncatingIfNeeded: random.next()) }, at: at)
            default: bytes[at] = [0, 0xFF, 0x7F, 0x80][Int(random.next() % 4)]
            }
        }
        let whole = parse(bytes)
        let cut = parse(bytes, pieces: [1, 9, 1_000])
        #expect(whole.events == cut.events)
        #expect(whole.error == cut.error)
    }

    @Test func `content that is not audio is named in the error`() {
        for (text, found) in [
            ("<!DOCTYPE html><html><body>Not here</body></html>", "a web page (HTML)"),
            ("\n  <html><head><title>404</title></head></html>", "a web page (HTML)"),
            ("{\"error\": \"no such station\"}", "a JSON document"),
            ("#EXTM3U\nhttp://localhost/a.mp3\n", "a playlist"), ("[playlist]\nFile1=http://localhost/", "a playlist"),
            ("This station has moved. Please look elsewhere.", "text"),
        ] {
            #expect(parse(Array(text.utf8)).error == .notAudio(found: found, offset: 0))
            #expect(parse(Array(text.utf8), pieces: [1]).error == .notAudio(found: found, offset: 0))
        }
        #expect(
            parse(Array("fLaC\u{0}\u{0}\u{0}\u{22}".utf8)).error == .unsupported(detail: "FLAC without Ogg", offset: 0))
        #expect(parse([]).error == .noPackets(byteCount: 0, offset: 0))
        #expect(parse([1, 2, 3]).error == .noPackets(byteCount: 3, offset: 0))
    }

    @Test func `endless noise is given up on, using little memory`() {
        var random = SeededRandom(seed: 9)
        var parser = AudioStreamParser()
        var events: [AudioStreamEvent] = []
        var taken = 0
        var most = 0
        while taken < 4 << 20 {
            let noise = (0..<4_096).map { _ in UInt8(truncatingIfNeeded: random.next()) & 0x7F }
            do { try parser.parse(noise, into: &events) } catch { break }
            taken += noise.count
            most = max(most, parser.heldByteCount)
        }
        #expect(taken <= 1 << 20 + 8_192)
        #expect(most < 1 << 17)
        #expect(events.isEmpty)
    }

    @Test func `false WAVE headers give typed errors`() throws {
        var bytes = try StreamFixture.wav16.bytes
        bytes[22] = 99  // channels
        guard case .unsupported? = parse(bytes).error else { return wrong("99 channels") }
        bytes = try StreamFixture.wav16.bytes
        bytes[32] = 3  // bytes a frame
        guard case .damaged(_, let offset)? = parse(bytes).error else { return wrong("3 bytes a frame") }
        #expect(offset == 12)
        bytes = try StreamFixture.wav16.bytes
        bytes[20] = 6  // A-law
        guard case .unsupported? = parse(bytes).error else { return wrong("A-law") }
        #expect(parse(Array(bytes.prefix(30))).error != nil)
    }

    @Test func `pages with false lengths do not cause endless work`() {
        // A page of maximum size at every thirtieth byte: the checksum of each would be computed.
        var bytes: [UInt8] = []
        while bytes.count < 2 << 20 {
            bytes += Array("OggS".utf8) + [0, 0] + [UInt8](repeating: 0, count: 20) + [255]
            bytes += [UInt8](repeating: 255, count: 3)
        }
        let error = parse(bytes).error
        guard case .noPackets? = error else { return wrong("\(String(describing: error))") }
    }

    @Test func `seek hints lead close to a frame, and exactly to it in WAVE`() throws {
        for fixture in [StreamFixture.lameCBR, .lameVBR, .lameUntagged, .adts44, .wav16, .opus, .vorbis] {
            let bytes = try fixture.bytes
            let all = parse(bytes).events.packets
            for part in [bytes.count / 3, bytes.count] {
                var parser = AudioStreamParser()
                var events: [AudioStreamEvent] = []
                try parser.parse(Array(bytes[..<part]), into: &events)
                for frame in [0, 1_000, 44_100, 88_200, 120_000] {
                    guard let hint = parser.seekHint(forFrame: frame, byteCount: bytes.count) else {
                        #expect(fixture.ending == "ogg" && part < bytes.count)
                        continue
                    }
                    if part == bytes.count || fixture == .wav16 { #expect(hint.isExact, "\(fixture) \(frame)") }
                    // The packet at that position.
                    let packet = try #require(all.last { $0.byteOffset <= hint.byteOffset } ?? all.first)
                    let distance = packet.framePosition - frame
                    #expect(distance <= (fixture == .wav16 ? 1_024 : 48_000), "\(fixture) \(frame): \(distance)")
                    // In Ogg a nearby position is reached by reading.
                    #expect(distance >= (fixture.ending == "ogg" ? -144_000 : -48_000), "\(fixture) \(frame)")
                }
            }
        }
    }

    @Test(arguments: StreamFixture.allCases.filter { ![.lameVBR, .lameTagged].contains($0) })
    func `parsing resumes at a seek hint with the same packets`(_ fixture: StreamFixture) throws {
        let bytes = try fixture.bytes
        let all = parse(bytes).events.packets
        for part in [bytes.count / 3, bytes.count] {
            var parser = AudioStreamParser()
            var events: [AudioStreamEvent] = []
            try parser.parse(Array(bytes[..<part]), into: &events)
            // In ADTS the parser knows only the past.
            for frame in [20_000, 66_150, 9_000, 100_000] where fixture.ending != "aac" || part == bytes.count {
                guard let hint = parser.seekHint(forFrame: frame, byteCount: bytes.count) else {
                    // One page of Ogg does not reveal others.
                    #expect(fixture.ending == "ogg" && part < bytes.count)
                    continue
                }
                parser.resume(at: hint)
                var rest: [AudioStreamEvent] = []
                try parser.parse(Array(bytes[min(bytes.count, hint.byteOffset)...]), into: &rest)
                try parser.finish(into: &rest)
                #expect(rest.formats.isEmpty, "\(fixture)")
                if fixture.ending == "wav" {  // whose packets begin where one likes
                    let sound = rest.packets.flatMap(\.bytes)
                    #expect(rest.packets.first?.framePosition == frame && !sound.isEmpty)
                    let isSame = sound == all.flatMap(\.bytes).suffix(sound.count)
                    #expect(isSame, "\(fixture) \(frame)")
                    continue
                }
                // The first packet of Vorbis gives no frames.
                let found = fixture.ending == "ogg" ? Array(rest.packets.dropFirst()) : rest.packets
                let isSame = found == Array(all.suffix(found.count))
                #expect(isSame, "\(fixture) \(frame)")
            }
        }
    }

    @Test func `a file of chained Ogg streams gives no seek hints`() throws {
        var parser = AudioStreamParser()
        var events: [AudioStreamEvent] = []
        let first = try StreamFixture.opus.bytes
        let bytes = try first + StreamFixture.vorbis.bytes
        try parser.parse(bytes, into: &events)
        #expect(parser.seekHint(forFrame: 48_000) == nil)
        // Nor are pages of another stream sound of this one.
        var unaware = AudioStreamParser()
        try unaware.parse(Array(first.dropLast(500)), into: &events)
        let hint = try #require(unaware.seekHint(forFrame: 10_000_000, byteCount: 2_000_000))
        unaware.resume(at: hint)
        let other = try StreamFixture.vorbis.bytes.suffix(20_000)
        #expect(throws: StreamParserError.self) {
            var rest: [AudioStreamEvent] = []
            for _ in 0..<100 { try unaware.parse(Array(other), into: &rest) }
        }
    }
}
