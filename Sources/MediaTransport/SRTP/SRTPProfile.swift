// SPDX-License-Identifier: Apache-2.0

/// A protection profile of SRTP; the value is that of DTLS's `use_srtp` (RFC 5764 §4.1.2, RFC 7714 §14.2).
package enum SRTPProfile: UInt16, Hashable, Sendable, CaseIterable {
    /// AES-128 in Galois/counter mode (RFC 7714), which also authenticates the header.
    case aeadAES128GCM = 0x0007
    /// AES-128 in counter mode with 80 bits of HMAC-SHA1 (RFC 3711), for peers without GCM.
    case aes128CMSHA180 = 0x0001

    /// The name that IANA and OpenSSL use.
    package var name: String {
        switch self {
        case .aeadAES128GCM: "SRTP_AEAD_AES_128_GCM"
        case .aes128CMSHA180: "SRTP_AES128_CM_SHA1_80"
        }
    }

    /// The bytes that protection adds to an RTP packet.
    package var overhead: Int { self == .aeadAES128GCM ? 16 : 10 }
    /// The bytes that protection adds to an RTCP packet, including SRTCP's index.
    package var controlOverhead: Int { overhead + 4 }

    /// The bytes of a master key.
    static let keySize = 16
    /// The bytes of a master salt.
    var saltSize: Int { self == .aeadAES128GCM ? 12 : 14 }
}
