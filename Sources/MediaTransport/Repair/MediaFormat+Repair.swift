// SPDX-License-Identifier: Apache-2.0

/// The formats that repair losses of another one: RED (RFC 2198 §5) and retransmissions (RFC 4588 §8).
extension MediaFormat {
    /// The kinds of repair.
    package enum Repair: Sendable {
        /// `red`: its parameter lists the type of each block, as `97/97`.
        case redundant
        /// `rtx`: its parameter is `apt=97`.
        case repeated
    }

    /// Returns the format `red` for redundant blocks of this format.
    package func redundant(payloadType: UInt8) -> MediaFormat {
        MediaFormat(
            payloadType: payloadType, encodingName: "red", clockRate: clockRate, channelCount: channelCount,
            parameters: [Parameter("\(self.payloadType)/\(self.payloadType)", "")])
    }

    /// Returns the format `rtx` for retransmissions of this format.
    package func repeated(payloadType: UInt8) -> MediaFormat {
        MediaFormat(
            payloadType: payloadType, encodingName: "rtx", clockRate: clockRate, channelCount: channelCount,
            parameters: [Parameter("apt", String(self.payloadType))])
    }

    /// The kind of repair; nil for a format of sound, or an unknown one.
    package var repair: Repair? {
        switch encodingName.lowercased() {
        case "red": .redundant
        case "rtx": .repeated
        default: nil
        }
    }

    /// Returns true if this format repairs losses of the format `other`, and of no third one.
    package func repairs(_ other: MediaFormat) -> Bool {
        guard clockRate == other.clockRate else { return false }
        switch repair {
        case .redundant:
            // Chromium writes two channels with Opus, others none; only the types in the list matter.
            guard let list = parameters.first, list.value.isEmpty else { return false }
            return list.name.split(separator: "/").allSatisfy { $0 == String(other.payloadType) }
        case .repeated: return parameter("apt") == String(other.payloadType)
        case nil: return false
        }
    }
}
