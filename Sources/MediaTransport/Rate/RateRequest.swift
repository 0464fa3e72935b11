// SPDX-License-Identifier: Apache-2.0

/// RTCP's temporary maximum media stream bit rate request (TMMBR, RFC 5104 §4.2.1): the bits a second that the path to the
/// requesting peer carries, the headers of IP, UDP and RTP included.
package struct RateRequest: Hashable, Sendable {
    /// The requested maximum bits a second.
    package var bitRate: Double
    /// The average bytes of the headers of IP, UDP and RTP in a packet; 0 to 511.
    package var overhead: Int

    /// Creates a request.
    package init(bitRate: Double, overhead: Int) {
        self.bitRate = bitRate
        self.overhead = overhead
    }

    /// The format (FMT) of the request among transport-layer feedback messages.
    static let format = 3
    /// The bytes of one entry: the source that shall send less, and a word of exponent, mantissa and overhead.
    static let entrySize = 8

    /// Reads the first entry for `ssrc` among those that follow the two sources of a message; nil if there is none.
    static func read(of ssrc: UInt32, _ bytes: RawSpan, at entries: Range<Int>) -> RateRequest? {
        var offset = entries.lowerBound
        while entries.upperBound - offset >= entrySize {
            if bytes.bigEndian32(offset) == ssrc { return RateRequest(word: bytes.bigEndian32(offset + 4)) }
            offset += entrySize
        }
        return nil
    }

    /// - Parameter word: six bits of an exponent of two, seventeen of a mantissa, nine of the overhead.
    init(word: UInt32) {
        let mantissa = Double(word >> 9 & 0x1_FFFF)
        bitRate = mantissa * Double(sign: .plus, exponent: Int(word >> 26), significand: 1)
        overhead = Int(word & 0x1FF)
    }

    /// The request as a word; the bit rate is rounded down to 17 significant bits.
    var word: UInt32 {
        var mantissa = UInt64(max(0, min(1e15, bitRate.isFinite ? bitRate : 1e15)))
        var exponent: UInt32 = 0
        while mantissa > 0x1_FFFF {
            mantissa >>= 1
            exponent += 1
        }
        return exponent << 26 | UInt32(mantissa) << 9 | UInt32(max(0, min(0x1FF, overhead)))
    }
}
