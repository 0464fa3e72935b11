// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import EarshotMediaTransport

/// Requests for a lower bit rate (TMMBR, RFC 5104), and the reserve of a stream.
@Suite struct RateRequestTests {
    private func pair() -> (RTPSession, RTPSession) {
        var (a, b) = (session(ssrc: 0x10), session(ssrc: 0x20))
        for side in 0..<2 {
            var repair = RTPRepair()
            repair.takesRateRequests = true
            repair.reserve = 103
            if side == 0 { a.repair = repair } else { b.repair = repair }
        }
        return (a, b)
    }

    private func request(_ session: RTPSession, _ request: RateRequest) -> [UInt8] {
        var bytes = [UInt8](repeating: 0xAA, count: RTPSession.maximumRateRequestSize)
        let count = bytes.withMutableRawSpan { session.writeRateRequest(request, into: &$0) }
        return Array(bytes.prefix(count))
    }

    @Test func `a bit rate request is laid out according to RFC 5104`() {
        var (a, b) = pair()
        _ = b.take(a.packet(position: 0, at: .seconds(0)))
        let bytes = request(b, RateRequest(bitRate: 230_400, overhead: 40))
        #expect(bytes.prefix(8) == [0x80, 201, 0, 1, 0, 0, 0, 0x20], "an empty report first")
        // 230,400 = 115,200 · 2: exponent 1, mantissa 0x1C200.
        let word = UInt32(1) << 26 | UInt32(0x1C200) << 9 | 40
        #expect(
            bytes.suffix(20) == [
                0x83, 205, 0, 4, 0, 0, 0, 0x20, 0, 0, 0, 0, 0, 0, 0, 0x10,
                UInt8(word >> 24), UInt8(word >> 16 & 255), UInt8(word >> 8 & 255), UInt8(word & 255),
            ])
        #expect(a.take(bytes) == .report)
        #expect(a.takeRateRequest() == RateRequest(bitRate: 230_400, overhead: 40))
        #expect(a.takeRateRequest() == nil, "each is told once")
    }

    @Test func `an encoded bit rate is never larger, and at most 1 part in 65536 smaller`() {
        for bits in [0, 1, 131_071, 131_072, 16_000.5, 1e6, 12_345_678, 1e12] {
            let back = RateRequest(word: RateRequest(bitRate: bits, overhead: 511).word)
            #expect(
                back.bitRate <= bits && back.bitRate >= bits.rounded(.down) * (1 - 1 / 65_536) && back.overhead == 511)
        }
        for odd in [Double.infinity, .nan, -1] { _ = RateRequest(bitRate: odd, overhead: -1).word }
        #expect(RateRequest(word: .max).bitRate.isFinite && RateRequest(word: .max).bitRate > 1e20)
    }

    @Test func `foreign and truncated bit rate requests are ignored`() {
        var (a, b) = pair()
        _ = b.take(a.packet(position: 0, at: .seconds(0)))
        _ = a.take(b.packet(position: 0, at: .seconds(0)))
        let whole = request(b, RateRequest(bitRate: 64_000, overhead: 40))
        for index in [whole.count - 5, whole.count - 13, 7] {
            var bytes = whole
            bytes[index] ^= 1
            _ = a.take(bytes)
            #expect(a.takeRateRequest() == nil, "byte \(index)")
        }
        for length in 0..<whole.count {
            _ = a.take(Array(whole.prefix(length)))
            #expect(a.takeRateRequest() == nil)
        }
        var random = SeededRandom(seed: 5)
        for _ in 0..<2_000 {
            var bytes = whole
            for _ in 0..<3 { bytes[Int(random.next() % UInt64(bytes.count))] = UInt8(random.next() & 255) }
            _ = a.take(bytes)
        }
        a.repair.takesRateRequests = false
        _ = a.takeRateRequest()
        _ = a.take(whole)
        #expect(a.takeRateRequest() == nil, "it was not agreed on")
        b.repair.takesRateRequests = false
        #expect(request(b, RateRequest(bitRate: 1, overhead: 0)).isEmpty)
    }

    @Test func `fallback codec packets belong to the same source and are recognised`() throws {
        var (a, b) = pair()
        var bytes = [UInt8](repeating: 0, count: 32)
        func packet(_ isFallbackCodec: Bool, _ position: Int) -> [UInt8] {
            let payload: [UInt8] = [1, 2, 3, 4]
            let count = payload.withUnsafeBytes { payload in
                bytes.withMutableRawSpan {
                    a.packetize(
                        payload.bytes, position: position, marker: false, isFallbackCodec: isFallbackCodec,
                        at: .seconds(0),
                        into: &$0)
                }
            }
            return Array(bytes.prefix(count))
        }
        for n in 0..<4 {
            let datagram = packet(n % 2 == 1, n * 480)
            #expect(datagram[1] & 0x7F == (n % 2 == 1 ? 103 : a.payloadType))
            guard case .media(let media) = b.take(datagram) else {
                Issue.record("packet \(n) was not taken")
                continue
            }
            let type = n % 2 == 1 ? 103 : a.payloadType
            #expect(media.payloadType == type && !media.isRedundant && media.position == n * 480)
        }
        #expect(b.statistics.packetsReceived == 4 && b.statistics.packetsMissing == 0)
        b.repair.reserve = nil
        #expect(b.take(packet(true, 1_920)) == .ignored(.payloadType(103)))
    }
}
