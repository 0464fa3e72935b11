// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import EarshotMediaTransport

/// The RFCs' vectors check the reference, and the reference checks libsrtp, which only takes master keys.
@Suite struct SRTPVectorTests {
    private let masterKey = bytes("E1F97A0D3E018BE0D64FA32C06DE4139")
    private let masterSalt = bytes("0EC675AD498AFEEBB6960B3AABE6")

    @Test func `the reference implementation passes the counter mode vectors of RFC 3711`() {
        let stream = ReferenceSRTP.counterMode(
            bytes("2B7E151628AED2A6ABF7158809CF4F3C"), bytes("F0F1F2F3F4F5F6F7F8F9FAFBFCFD0000"),
            [UInt8](repeating: 0, count: 1_044_512))
        #expect(
            Array(stream.prefix(48))
                == bytes(
                    "E03EAD0935C95E80E166B16DD92B4EB4 D23513162B02D0F72A43A2FE4A5F97AB 41E95B3BB0A2E8DD477901E4FCA894C0"
                ))
        #expect(
            Array(stream.suffix(48))
                == bytes(
                    "EC8CDF7398607CB0F2D21675EA9EA1E4 362B7C3C6773516318A077D7FC5073AE 6A2CC3787889374FBEB4C81B17BA6C44"
                ))
    }

    @Test func `the reference implementation passes the key derivation vectors of RFC 3711`() {
        func derived(_ label: UInt8, _ count: Int) -> [UInt8] {
            ReferenceSRTP.derived(masterKey: masterKey, masterSalt: masterSalt, label: label, count: count)
        }
        #expect(derived(0, 16) == bytes("C61E7A93744F39EE10734AFE3FF7A087"))
        #expect(derived(2, 14) == bytes("30CBBC08863D8C85D49DB34A9AE1"))
        #expect(
            derived(1, 94)
                == bytes(
                    """
                    CEBE321F6FF7716B6FD4AB49AF256A15 6D38BAA48F0A0ACF3C34E2359E6CDBCE
                    E049646C43D9327AD175578EF7227098 6371C10C9A369AC2F94A8C5FBCDDDC25
                    6D6E919A48B610EF17C2041E47403576 6B68642C59BBFC2F34DB60DBDFB2
                    """))
    }

    @Test func `the reference implementation passes the AEAD vectors of RFC 7714`() {
        let keys = ReferenceSRTP.SessionKeys(
            cipher: (0..<16).map { $0 }, authentication: [], salt: Array("Quid pro quo".utf8))
        let reference = ReferenceSRTP(profile: .aeadAES128GCM, media: keys, control: keys)
        let packet = bytes("8040f17b 8041f8d3 5501a0b2") + Array("Gallia est omnis divisa in partes tres".utf8)
        #expect(
            reference.protect(packet, header: 12, rollOver: 0)
                == bytes(
                    """
                    8040f17b 8041f8d3 5501a0b2 f24de3a3 fb34de6c acba861c 9d7e4bca be633bd5 0d294e6f 42a5f47a
                    51c7d19b 36de3adf 8833899d 7f27beb1 6a9152cf 765ee439 0cce
                    """))
        let report = bytes(
            """
            81c8000d 4d617273 4e545031 4e545032 52545020 0000042a 0000e930 4c756e61 deadbeef deadbeef
            deadbeef deadbeef deadbeef
            """)
        #expect(
            reference.protectControl(report, index: 0x5d4)
                == bytes(
                    """
                    81c8000d 4d617273 63e94885 dcdab67c a727d766 2f6b7e99 7ff5c0f7 6c06f32d c676a5f1 730d6fda
                    4ce09b46 86303ded 0bb9275b c84aa458 96cf4d2f c5abf872 45d9eade 800005d4
                    """))
    }

    @Test(arguments: SRTPProfile.allCases)
    func `protected packets match the reference across a sequence number rollover`(profile: SRTPProfile) throws {
        let salt = Array(masterSalt.prefix(profile.saltSize))
        let reference = ReferenceSRTP(profile: profile, masterKey: masterKey, masterSalt: salt)
        let pair = try SRTPPair(profile: profile, clientKey: masterKey, clientSalt: salt)
        for n in 30_000..<70_000 where n % 997 < 3 || (65_530..<65_545).contains(n) {
            let packet = rawPacket(
                sequence: UInt16(n & 65_535), timestamp: UInt32(n) &* 960, ssrc: 0xDEAD_BEEF,
                payload: (0..<n % 300).map { UInt8($0 & 255) })
            let expected = reference.protect(packet, header: 12, rollOver: UInt32(n >> 16))
            #expect(try pair.client.protect(packet) == expected, "packet \(n)")
            #expect(try pair.server.unprotect(expected) == packet, "packet \(n)")
        }
    }

    @Test(arguments: SRTPProfile.allCases)
    func `headers with contributing sources and an extension stay unencrypted`(profile: SRTPProfile) throws {
        let salt = Array(masterSalt.prefix(profile.saltSize))
        let reference = ReferenceSRTP(profile: profile, masterKey: masterKey, masterSalt: salt)
        let pair = try SRTPPair(profile: profile, clientKey: masterKey, clientSalt: salt)
        var packet = rawPacket(sequence: 9, payload: [])
        packet[0] = 0x92  // an extension, two sources
        packet += bytes("00000011 00000022 BEDE0001 10AA0000")
        let expected = reference.protect(packet + [1, 2, 3], header: packet.count, rollOver: 0)
        #expect(try pair.client.protect(packet + [1, 2, 3]) == expected)
        #expect(Array(expected.prefix(packet.count)) == packet)
        #expect(try pair.server.unprotect(expected) == packet + [1, 2, 3])
    }

    @Test(arguments: SRTPProfile.allCases)
    func `protected reports match the reference`(profile: SRTPProfile) throws {
        let salt = Array(masterSalt.prefix(profile.saltSize))
        let reference = ReferenceSRTP(profile: profile, masterKey: masterKey, masterSalt: salt)
        let pair = try SRTPPair(profile: profile, clientKey: masterKey, clientSalt: salt)
        var rtp = session(ssrc: 0x0102_0304)
        for index in UInt32(1)...20 {
            let report = rtp.report(at: .seconds(Double(index)))
            let expected = reference.protectControl(report, index: index)
            #expect(try pair.client.protect(report) == expected)
            #expect(try pair.server.unprotect(expected) == report)
        }
    }
}
