// SPDX-License-Identifier: Apache-2.0

/// An RTP payload of AAC access units in the mode AAC-hbr (RFC 3640 §3.3.6): 13 bits of size and 3 of index for each.
///
/// A packet may have several units, as FFmpeg sends; Earshot sends one. Fragments and interleaving are refused. Does not
/// allocate.
package struct AACPayload: ~Escapable {
    /// One access unit.
    @frozen
    package struct Unit: Hashable, Sendable {
        /// The unit's range in the payload.
        package var bytes: Range<Int>
        /// The frames from the packet's timestamp to the unit's first frame: 1,024 for each earlier unit in the packet.
        package var frameOffset: Int
    }

    /// The frames of a decoded unit.
    package static let framesPerUnit = 1_024
    /// The maximum bytes of a unit, limited by 13 bits.
    package static let maximumUnitSize = 8_191
    /// The bytes that ``write(_:into:)`` writes before the unit.
    package static let headerSize = 4

    /// The number of units in the payload; at least one.
    package let unitCount: Int
    private let payload: RawSpan

    /// Reads the headers and checks that headers and units fill the payload exactly.
    @_lifetime(copy payload)
    package init(parsing payload: RawSpan) throws(AACPayloadError) {
        guard payload.byteCount >= 2 else { throw .tooShort(payload.byteCount) }
        let headerBits = Int(payload.bigEndian16(0))
        guard headerBits > 0, headerBits % 16 == 0 else { throw .badHeaderLength(headerBits) }
        unitCount = headerBits / 16
        self.payload = payload
        var end = 2 + 2 * unitCount
        guard end <= payload.byteCount else { throw .badHeaderLength(headerBits) }
        for i in 0..<unitCount {
            let header = payload.bigEndian16(2 + 2 * i)
            guard header & 7 == 0 else { throw .interleaved }
            guard header >> 3 > 0 else { throw .emptyUnit }
            end += Int(header >> 3)
        }
        guard end == payload.byteCount else {
            let presentSize = payload.byteCount - 2 - 2 * unitCount
            if unitCount == 1, presentSize < Int(payload.bigEndian16(2) >> 3) {
                throw .fragmented(size: Int(payload.bigEndian16(2) >> 3), present: presentSize)
            }
            throw .sizeMismatch(announced: end, present: payload.byteCount)
        }
    }

    /// Calls `body` with each unit, in order.
    package func forEach(_ body: (Unit) -> Void) {
        var offset = 2 + 2 * unitCount
        for index in 0..<unitCount {
            let size = Int(payload.bigEndian16(2 + 2 * index) >> 3)
            body(Unit(bytes: offset..<offset + size, frameOffset: index * Self.framesPerUnit))
            offset += size
        }
    }

    /// Writes a payload of one unit.
    /// - Parameter payload: has room for ``headerSize`` bytes more than the unit.
    /// - Returns: the payload's size in bytes.
    package static func write(_ unit: RawSpan, into payload: inout MutableRawSpan)
        throws(AACPayloadError) -> Int
    {
        guard unit.byteCount > 0 else { throw .emptyUnit }
        guard unit.byteCount <= maximumUnitSize else { throw .unitTooLarge(unit.byteCount) }
        payload.put(16 as UInt16, at: 0)
        payload.put(UInt16(unit.byteCount) << 3, at: 2)
        payload.put(unit, at: headerSize)
        return headerSize + unit.byteCount
    }
}

/// The reason that a payload is not playable AAC-hbr, or that a unit cannot be sent.
package enum AACPayloadError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The payload is too short for the field with the headers' length; the value is the payload's size in bytes.
    case tooShort(Int)
    /// The headers' length, the value in bits, is invalid or exceeds the payload.
    case badHeaderLength(Int)
    /// A unit is empty.
    case emptyUnit
    /// Units are out of order.
    case interleaved
    /// The payload has only part of a unit; the values are bytes.
    case fragmented(size: Int, present: Int)
    /// Headers and units do not fill the payload exactly; the values are bytes.
    case sizeMismatch(announced: Int, present: Int)
    /// The size of the unit to send needs more than 13 bits; the value is in bytes.
    case unitTooLarge(Int)

    /// One line for a log.
    package var description: String {
        switch self {
        case .tooShort(let size): "an AAC payload of \(size) bytes has no unit headers; the packet was cut"
        case .badHeaderLength(let bits): "\(bits) bits of AAC unit headers; only whole 16-bit ones (AAC-hbr) are read"
        case .emptyUnit: "an AAC unit without bytes; the sender's encoder is at fault"
        case .interleaved: "interleaved AAC units"
        case .fragmented(let size, let present):
            "\(present) bytes of an AAC unit of \(size)"
        case .sizeMismatch(let announced, let present):
            "AAC headers announce \(announced) bytes, the packet has \(present); the packet was cut or the sender is faulty"
        case .unitTooLarge(let size): "an AAC unit of \(size) bytes exceeds 8191"
        }
    }
}

extension MediaFormat {
    /// Returns the format of AAC-LC with one unit in a packet.
    /// - Parameter configuration: the encoder's AudioSpecificConfig.
    public static func aac(
        payloadType: UInt8 = 96, sampleRate: Int = 44_100, channelCount: Int = 1, configuration: [UInt8]
    ) -> MediaFormat {
        MediaFormat(
            payloadType: payloadType, encodingName: "MPEG4-GENERIC", clockRate: sampleRate, channelCount: channelCount,
            parameters: [
                Parameter("streamtype", "5"), Parameter("profile-level-id", "41"), Parameter("mode", "AAC-hbr"),
                Parameter("sizelength", "13"), Parameter("indexlength", "3"), Parameter("indexdeltalength", "3"),
                Parameter("config", configuration.map(hexadecimal).joined()),
            ])
    }

    /// The AudioSpecificConfig of an AAC format; nil if there is none or it is not hexadecimal.
    package var configuration: [UInt8]? {
        guard let text = parameter("config"), !text.isEmpty, text.utf8.count % 2 == 0 else { return nil }
        var bytes: [UInt8] = []
        var high: Int?
        for character in text {
            guard character.isASCII, let digit = character.hexDigitValue else { return nil }
            if let first = high {
                bytes.append(UInt8(first * 16 + digit))
                high = nil
            } else {
                high = digit
            }
        }
        return bytes
    }
}

extension AACPayload: FormattedPayload {
    static func isNamed(by format: MediaFormat) -> Bool {
        format.encodingName.lowercased() == "mpeg4-generic" && format.parameter("mode")?.lowercased() == "aac-hbr"
            && format.parameter("sizelength") == "13" && format.parameter("indexlength") == "3"
            && format.parameter("indexdeltalength") == "3" && format.configuration != nil
    }
}

private func hexadecimal(_ byte: UInt8) -> String {
    (byte < 16 ? "0" : "") + String(byte, radix: 16)
}
