// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import TestSupport
import Testing

@testable import EarshotMediaTransport

/// Any bytes give an error or a value, but never a trap.
@Suite struct RobustnessTests {
    private let rounds = 100_000

    @Test func sessionTakesAnyBytes() {
        var random = SeededRandom(seed: 1)
        var from = session(ssrc: 2)
        var other = session()
        _ = from.take(rawPacket(sequence: 5, ssrc: 1))
        var media = rawPacket(sequence: 1, payload: [1, 2, 3, 4, 5, 6, 7, 8])
        media[0] |= 0x31
        let bases = [
            from.packet(position: 0, at: .seconds(0)), media, from.report(at: .seconds(1)), from.bye(at: .seconds(2)),
        ]
        var taken = 0
        for n in 0..<rounds {
            let bytes = mutated(bases[n % bases.count], &random)
            let at = HostTime(nanoseconds: Int64(bitPattern: random.next()) >> Int64(n % 40))
            switch other.take(bytes, at: at) {
            case .media(let media), .repeated(let media):
                taken += 1
                #expect(media.payload.lowerBound >= 12 && media.payload.upperBound <= bytes.count)
            case .report, .goodbye: taken += 1
            case .ignored: break
            }
            if n % 1_000 == 0 {
                _ = other.report(at: at)
                _ = other.statistics
            }
        }
        #expect(taken > rounds / 100)
    }

    @Test func payloadsTakeAnyBytes() {
        var random = SeededRandom(seed: 2)
        let bases: [[UInt8]] = [[0, 32, 0, 16, 0, 8, 1, 2, 3], [0xFB, 0xC2, 2, 1, 1, 2, 3, 4, 0, 0]]
        var (aac, opus) = (0, 0)
        for n in 0..<rounds {
            mutated(bases[n % 2], &random).withUnsafeBytes { bytes in
                if let payload = try? AACPayload(parsing: bytes.bytes) {
                    var units: [AACPayload.Unit] = []
                    payload.forEach { units.append($0) }
                    aac += 1
                    #expect(units.count == payload.unitCount && units.last?.bytes.upperBound == bytes.count)
                }
                if let payload = try? OpusPayload(parsing: bytes.bytes) {
                    opus += 1
                    #expect((120...5_760).contains(payload.ticks))
                }
            }
        }
        #expect(aac > rounds / 100 && opus > rounds / 100)
    }

    @Test func descriptionsTakeAnyBytes() throws {
        var random = SeededRandom(seed: 3)
        let base = Array(
            SessionDescription.offer(
                formats: [.aac(configuration: [1, 2]), .opus(), .pcm(sampleRate: 8_000)], address: .loopbackV6,
                port: 1, packetTime: 2.5, sessionID: 1
            ).description.utf8)
        let browser = Array(
            ("v=0\na=group:BUNDLE 0 1\nm=video 9 A 1\na=mid:0\nm=audio 9 UDP/TLS/RTP/SAVPF 111\nc=IN IP4 0.0.0.0\na=mid:1\n"
                + "a=rtpmap:111 opus/48000/2\nm=application 9 UDP/DTLS/SCTP webrtc-datachannel\na=mid:2\n").utf8)
        var read = 0
        for n in 0..<rounds {
            guard let description = try? SessionDescription(parsing: mutated(n % 2 == 0 ? base : browser, &random))
            else { continue }
            read += 1
            #expect(try SessionDescription(parsing: description.description) == description)
        }
        #expect(read > rounds / 100)
    }
}
