// SPDX-License-Identifier: Apache-2.0

import CEarshotOpenSSL

@testable import EarshotMediaTransport

/// SRTP as its RFCs describe it, written for tests with only AES and HMAC, to compare with libsrtp.
struct ReferenceSRTP {
    /// The keys for one kind of packets (RFC 3711, 4.3.2).
    struct SessionKeys {
        var cipher: [UInt8]
        var authentication: [UInt8]
        var salt: [UInt8]
    }

    let profile: SRTPProfile
    let media: SessionKeys
    let control: SessionKeys

    init(profile: SRTPProfile, masterKey: [UInt8], masterSalt: [UInt8]) {
        func keys(_ label: UInt8) -> SessionKeys {
            func key(_ offset: UInt8, _ count: Int) -> [UInt8] {
                Self.derived(masterKey: masterKey, masterSalt: masterSalt, label: label + offset, count: count)
            }
            return SessionKeys(cipher: key(0, 16), authentication: key(1, 20), salt: key(2, masterSalt.count))
        }
        self.profile = profile
        media = keys(0)
        control = keys(3)
    }

    init(profile: SRTPProfile, media: SessionKeys, control: SessionKeys) {
        (self.profile, self.media, self.control) = (profile, media, control)
    }

    /// Derives keys (4.3.1) with a key derivation rate of 0. A salt of 12 bytes is padded with zeros (RFC 7714, 11).
    static func derived(masterKey: [UInt8], masterSalt: [UInt8], label: UInt8, count: Int) -> [UInt8] {
        var input = masterSalt + [UInt8](repeating: 0, count: 16 - masterSalt.count)
        input[7] ^= label
        return counterMode(masterKey, input, [UInt8](repeating: 0, count: count))
    }

    /// AES-128 in counter mode.
    static func counterMode(_ key: [UInt8], _ initial: [UInt8], _ input: [UInt8]) -> [UInt8] {
        let context = EVP_CIPHER_CTX_new()
        defer { EVP_CIPHER_CTX_free(context) }
        var output = [UInt8](repeating: 0, count: input.count + 16)
        var count: CInt = 0
        precondition(EVP_EncryptInit_ex(context, EVP_aes_128_ctr(), nil, key, initial) == 1)
        precondition(EVP_EncryptUpdate(context, &output, &count, input, CInt(input.count)) == 1)
        return Array(output.prefix(Int(count)))
    }

    /// AES-128 in Galois/counter mode: the ciphertext, followed by the tag of 16 bytes.
    static func galois(_ key: [UInt8], _ nonce: [UInt8], associated: [UInt8], _ input: [UInt8]) -> [UInt8] {
        let context = EVP_CIPHER_CTX_new()
        defer { EVP_CIPHER_CTX_free(context) }
        var output = [UInt8](repeating: 0, count: input.count + 16)
        var tag = [UInt8](repeating: 0, count: 16)
        var count: CInt = 0
        precondition(EVP_EncryptInit_ex(context, EVP_aes_128_gcm(), nil, key, nonce) == 1)
        precondition(EVP_EncryptUpdate(context, nil, &count, associated, CInt(associated.count)) == 1)
        precondition(EVP_EncryptUpdate(context, &output, &count, input, CInt(input.count)) == 1)
        let size = Int(count)
        precondition(EVP_EncryptFinal_ex(context, &output, &count) == 1)
        precondition(EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, 16, &tag) == 1)
        return Array(output.prefix(size)) + tag
    }

    /// Protects an RTP packet of which `header` bytes are not encrypted.
    func protect(_ packet: [UInt8], header: Int, rollOver: UInt32) -> [UInt8] {
        let clear = Array(packet.prefix(header))
        let payload = Array(packet.dropFirst(header))
        let source = Array(packet[8..<12])
        let index = big(rollOver) + Array(packet[2..<4])
        switch profile {
        case .aeadAES128GCM:
            let nonce = zip([0, 0] + source + index, media.salt).map { $0 ^ $1 }
            return clear + Self.galois(media.cipher, nonce, associated: clear, payload)
        case .aes128CMSHA180:
            let initial = zip([0, 0, 0, 0] + source + index + [0, 0], media.salt + [0, 0]).map { $0 ^ $1 }
            let encrypted = clear + Self.counterMode(media.cipher, initial, payload)
            return encrypted + tag(media.authentication, encrypted + big(rollOver))
        }
    }

    /// Protects an RTCP packet.
    func protectControl(_ packet: [UInt8], index: UInt32) -> [UInt8] {
        let clear = Array(packet.prefix(8))
        let payload = Array(packet.dropFirst(8))
        let source = Array(packet[4..<8])
        let flagged = big(index | 0x8000_0000)
        switch profile {
        case .aeadAES128GCM:
            let nonce = zip([0, 0] + source + [0, 0] + big(index), control.salt).map { $0 ^ $1 }
            return clear + Self.galois(control.cipher, nonce, associated: clear + flagged, payload) + flagged
        case .aes128CMSHA180:
            let initial = zip([0, 0, 0, 0] + source + [0, 0] + big(index) + [0, 0], control.salt + [0, 0])
                .map { $0 ^ $1 }
            let encrypted = clear + Self.counterMode(control.cipher, initial, payload) + flagged
            return encrypted + tag(control.authentication, encrypted)
        }
    }

    private func tag(_ key: [UInt8], _ bytes: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: 20)
        var count: UInt32 = 0
        HMAC(EVP_sha1(), key, CInt(key.count), bytes, bytes.count, &digest, &count)
        return Array(digest.prefix(10))
    }

    private func big(_ value: UInt32) -> [UInt8] { withUnsafeBytes(of: value.bigEndian) { Array($0) } }
}
