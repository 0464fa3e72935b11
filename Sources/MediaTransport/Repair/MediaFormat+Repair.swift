// SPDX-License-Identifier: Apache-2.0

/// The formats that make up for lost packets of another: RED (RFC 2198 §5) and packets sent once more (RFC 4588 §8).
extension MediaFormat {
    /// Packets that carry earlier blocks of a format too, or those of a format sent once more.
    package enum Repair: Sendable {
        /// `red`: its parameter lists the type of each block, as `97/97`.
        case redundant
        /// `rtx`: its parameter is `apt=97`.
        case repeated
    }

    /// Packets of this format with earlier blocks.
    package func redundant(payloadType: UInt8) -> MediaFormat {
        MediaFormat(
            payloadType: payloadType, encodingName: "red", clockRate: clockRate, channelCount: channelCount,
            parameters: [Parameter("\(self.payloadType)/\(self.payloadType)", "")])
    }

    /// Packets of this format, sent once more.
    package func repeated(payloadType: UInt8) -> MediaFormat {
        MediaFormat(
            payloadType: payloadType, encodingName: "rtx", clockRate: clockRate, channelCount: channelCount,
            parameters: [Parameter("apt", String(self.payloadType))])
    }

    /// The repair that this format stands for; nil if it is sound itself, or unknown.
    package var repair: Repair? {
        switch encodingName.lowercased() {
        case "red": .redundant
        case "rtx": .repeated
        default: nil
        }
    }

    /// Returns true if this format makes up for lost packets of another, and of no third.
    package func repairs(_ other: MediaFormat) -> Bool {
        guard clockRate == other.clockRate else { return false }
        switch repair {
        case .redundant:
            // Chromium says two channels with Opus, others none; what counts is what it is made of.
            guard let list = parameters.first, list.value.isEmpty else { return false }
            return list.name.split(separator: "/").allSatisfy { $0 == String(other.payloadType) }
        case .repeated: return parameter("apt") == String(other.payloadType)
        case nil: return false
        }
    }
}
