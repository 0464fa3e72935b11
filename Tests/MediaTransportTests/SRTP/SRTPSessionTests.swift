// SPDX-License-Identifier: Apache-2.0

import Dispatch
import EarshotAudioBase
import TestSupport
import TestTraits
import Testing

@testable import EarshotMediaTransport

@Suite struct SRTPSessionTests {
    private func packet(_ number: Int, ssrc: UInt32 = 2, size: Int = 40) -> [UInt8] {
        rawPacket(
            sequence: UInt16(number & 65_535), timestamp: UInt32(truncatingIfNeeded: number * 480), ssrc: ssrc,
            payload: (0..<size).map { UInt8(($0 + number) & 255) })
    }

    private func refusal<R>(_ body: () throws -> R) -> SRTPError? {
        do {
            _ = try body()
            return nil
        } catch { return error as? SRTPError }
    }

    @Test(arguments: SRTPProfile.allCases)
    func `packets of every size are protected and unprotected in both directions`(profile: SRTPProfile) throws {
        let pair = try SRTPPair(profile: profile)
        for size in Array(0...64) + [255, 299, 300, 1_171, 1_188] {
            let packet = packet(size, size: size)
            let there = try pair.client.protect(packet)
            let back = try pair.server.protect(packet)
            #expect(there.count == packet.count + profile.overhead && back.count == there.count && there != back)
            #expect(try pair.server.unprotect(there) == packet && pair.client.unprotect(back) == packet)
        }
        var rtp = session()
        let report = rtp.report(at: .seconds(1))
        #expect(try pair.client.protect(report).count == report.count + profile.controlOverhead)
    }

    @Test(arguments: SRTPProfile.allCases)
    func `modified, truncated or extended packets are rejected, and the original is still accepted`(
        profile: SRTPProfile
    ) throws {
        let pair = try SRTPPair(profile: profile)
        var rtp = session()
        for (kind, clear) in [("media", packet(5)), ("report", rtp.report(at: .seconds(1)))] {
            let good = try pair.client.protect(clear)
            for n in good.indices {
                for bit in [UInt8(1), 0x80] {
                    var changed = good
                    changed[n] ^= bit
                    #expect(
                        refusal { try pair.server.unprotect(changed) } != nil, "\(kind), \(n)")
                }
                #expect(
                    refusal { try pair.server.unprotect(Array(good.prefix(n))) } != nil,
                    "\(kind) of \(n) bytes")
            }
            #expect(refusal { try pair.server.unprotect(good + [0]) } != nil)
            #expect(try pair.server.unprotect(good) == clear)
        }
    }

    @Test(arguments: SRTPProfile.allCases)
    func `replayed, reflected and foreign packets are rejected with a distinct error`(profile: SRTPProfile) throws {
        let pair = try SRTPPair(profile: profile)
        let other = try SRTPPair(profile: profile, other: 1)
        var rtp = session()
        let media = try pair.client.protect(packet(1))
        let report = try pair.client.protect(rtp.report(at: .seconds(1)))
        for good in [media, report] {
            _ = try pair.server.unprotect(good)
            #expect(refusal { try pair.server.unprotect(good) } == .replay)
            #expect(refusal { try pair.client.unprotect(good) } == .authentication, "reflected")
            #expect(refusal { try other.server.unprotect(good) } == .authentication)
        }
        #expect(refusal { try pair.server.unprotect(packet(2, size: 100)) } == .authentication)
    }

    @Test func `no sequence number is used for two packets`() throws {
        let pair = try SRTPPair()
        _ = try pair.client.protect(packet(10))
        #expect(refusal { try pair.client.protect(packet(10, size: 50)) } == .replay)
        _ = try pair.client.protect(packet(5_000))
        #expect(refusal { try pair.client.protect(packet(11)) } == .tooOld)
    }

    @Test func `data too short to be a packet is rejected with its size`() throws {
        let pair = try SRTPPair()
        var random = SeededRandom(seed: 1)
        for size in 0..<80 {
            let noise = (0..<size).map { _ in UInt8(random.below(256)) }
            #expect(refusal { try pair.server.unprotect(noise) } != nil)
            for kind: UInt8 in [96, 200] {
                let bytes = [0x80, kind] + noise
                let error = refusal { try pair.server.unprotect(bytes) }
                let least = kind == 200 ? 8 + 20 : 12 + 16
                if bytes.count < least { #expect(error == .malformed(bytes.count)) } else { #expect(error != nil) }
            }
        }
        #expect(refusal { try pair.client.protect([]) } == .malformed(0))
        #expect(
            refusal { try pair.client.protect([UInt8](repeating: 0, count: 40)) }
                == .malformed(40))
        var beyond = packet(1, size: 4)
        beyond[0] = 0x9F  // more sources and an extension than there are bytes
        #expect(refusal { try pair.client.protect(beyond) } == .malformed(beyond.count))
    }

    /// Packets are lost and reordered, over several times 2^16 of them.
    @Test(arguments: SRTPProfile.allCases)
    func `each packet is accepted once, despite loss and reordering`(profile: SRTPProfile) throws {
        for seed in UInt64(0)..<2 {
            var random = SeededRandom(seed: seed)
            let pair = try SRTPPair(profile: profile)
            let start = random.below(32_768)
            var flying: [(due: Int, number: Int, bytes: [UInt8])] = []
            var taken = 0
            var lost = 0
            for number in start..<start + 40_000 {
                let bytes = try pair.client.protect(packet(number * 5, size: 20))
                if random.unit() < 0.1 { lost += 1 } else { flying.append((number + random.below(60), number, bytes)) }
                if random.unit() < 0.05 { flying.append((number + random.below(150), number, bytes)) }
                var open: [(due: Int, number: Int, bytes: [UInt8])] = []
                for item in flying {
                    guard item.due <= number else {
                        open.append(item)
                        continue
                    }
                    switch refusal({ try pair.server.unprotect(item.bytes) }) {
                    case nil: taken += 1
                    case .replay?: break
                    case let other?: Issue.record("seed \(seed), packet \(item.number): \(other)")
                    }
                }
                flying = open
            }
            #expect(taken + lost >= 40_000 - 150 && taken <= 40_000, "seed \(seed): \(taken) taken, \(lost) lost")
        }
    }

    @Test func `a packet overtaken by 1,000 others is accepted, one overtaken by 2,000 is too old`() throws {
        let pair = try SRTPPair()
        let early = try (0..<2_001).map { try pair.client.protect(packet(100 + $0)) }
        _ = try pair.server.unprotect(early[2_000])
        #expect(try pair.server.unprotect(early[1_000]) == packet(1_100))
        #expect(refusal { try pair.server.unprotect(early[0]) } == .tooOld)
    }

    @Test func `a gap of 30,000 packets is tolerated`() throws {
        let pair = try SRTPPair()
        for n in stride(from: 1_000, to: 400_000, by: 30_000) {
            let bytes = try pair.client.protect(packet(n))
            #expect(try pair.server.unprotect(bytes) == packet(n))
        }
    }

    @Test func `a stream whose first 30,000 packets were lost is decrypted if it began at a low number`() throws {
        let pair = try SRTPPair()
        for n in stride(from: 32_767, to: 62_767, by: 10) { _ = try pair.client.protect(packet(n)) }
        #expect(try pair.server.unprotect(pair.client.protect(packet(62_767))) == packet(62_767))
    }

    @Test func `each source has its own sequence numbers`() throws {
        let pair = try SRTPPair()
        for n in 0..<100 {
            for source in UInt32(1)...8 {
                let clear = packet(n + Int(source) * 4_000, ssrc: source)
                #expect(try pair.server.unprotect(pair.client.protect(clear)) == clear)
            }
        }
    }

    @Test func `a peer can have at most 32 sources, and foreign ones do not count`() throws {
        let pair = try SRTPPair()
        let other = try SRTPPair(other: 9)
        for source in UInt32(1_000)..<2_000 {
            if source.isMultiple(of: 40) == false { continue }
            let stranger = try SRTPPair(other: 9).client.protect(packet(1, ssrc: source))
            #expect(refusal { try pair.server.unprotect(stranger) } == .authentication)
        }
        for source in UInt32(0)..<32 { _ = try pair.server.unprotect(pair.client.protect(packet(1, ssrc: source))) }
        #expect(refusal { try pair.client.protect(packet(1, ssrc: 32)) } == .tooManySources)
        #expect(
            refusal { try pair.server.unprotect(try other.client.protect(packet(1, ssrc: 32))) }
                == .tooManySources)
        #expect(try pair.server.unprotect(pair.client.protect(packet(2, ssrc: 31))) == packet(2, ssrc: 31))
    }

    @Test(.separate) func `a hundred thousand forged packets cost no memory and do not stop the stream`() throws {
        let pair = try SRTPPair()
        var random = SeededRandom(seed: 8)
        let template = try pair.client.protect(packet(1))
        _ = try pair.server.unprotect(template)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: template.count, alignment: 16)
        defer { buffer.deallocate() }
        func forge(_ count: Int) -> Int {
            var refused = 0
            for _ in 0..<count {
                buffer.copyBytes(from: template)
                buffer.storeBytes(of: random.next(), toByteOffset: 4, as: UInt64.self)  // time and source
                if refusal({ try pair.server.unprotect(buffer, count: template.count) }) != nil {
                    refused += 1
                }
            }
            return refused
        }
        #expect(forge(1_000) == 1_000)
        let before = ProcessFootprint.now().anonymousBytes
        #expect(forge(100_000) == 100_000)
        #expect(ProcessFootprint.keepsFreed || ProcessFootprint.now().anonymousBytes - before < 2 << 20)
        #expect(try pair.server.unprotect(pair.client.protect(packet(2))) == packet(2))
    }

    @Test func `sessions can be created on several threads at once`() {
        DispatchQueue.concurrentPerform(iterations: 16) { _ in
            do {
                let pair = try SRTPPair()
                let clear = packet(1)
                #expect(try pair.server.unprotect(pair.client.protect(clear)) == clear)
            } catch { Issue.record(error) }
        }
    }

    @Test(arguments: SRTPProfile.allCases)
    func `keys are taken in the order of the exporter`(profile: SRTPProfile) {
        let salt = profile.saltSize
        let keys = SRTPKeys(profile: profile) { buffer in
            for n in buffer.indices { buffer[n] = UInt8(n) }
            return true
        }
        guard let keys else {
            Issue.record("no keys")
            return
        }
        func key(_ role: DTLSRole) -> [UInt8] {
            keys.withMasterKey(ofSender: role) { Array(UnsafeBufferPointer(start: $0, count: 16 + salt)) }
        }
        func row(_ range: Range<Int>) -> [UInt8] { range.map { UInt8($0) } }
        #expect(key(.client) == row(0..<16) + row(32..<32 + salt))
        #expect(key(.server) == row(16..<32) + row(32 + salt..<32 + 2 * salt))
        let none = SRTPKeys(profile: profile) { _ in false }
        if case .some = none { Issue.record("keys without material") }
    }
}
