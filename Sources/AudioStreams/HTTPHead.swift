// SPDX-License-Identifier: Apache-2.0

/// A server's response before its body.
struct HTTPHead: Equatable, Sendable {
    var status = 0
    /// Names in small letters; the last of several.
    var fields: [String: String] = [:]
    /// The final address, behind all redirections; may have a name and password, so never to be shown.
    var address: String

    /// Returns true if it is a station that sends for ever.
    var isLive: Bool { fields.keys.contains { $0.hasPrefix("icy-") || $0.hasPrefix("ice-") } }

    /// Returns true if it is a file that can be taken up where it broke off.
    var isResumable: Bool { !isLive && (status == 206 || fields["content-length"] != nil || offersRanges) }

    /// Returns true if any part of it can be asked for.
    var isSeekable: Bool { !isLive && byteCount != nil && (status == 206 || offersRanges) }

    private var offersRanges: Bool { fields["accept-ranges"]?.lowercased() == "bytes" }

    /// Bytes of the whole, not of the part that was asked for.
    var byteCount: Int? {
        let text = status == 206 ? fields["content-range"]?.split(separator: "/").last : fields["content-length"]?[...]
        return text.flatMap { Int($0) }.flatMap { $0 >= 0 ? $0 : nil }
    }

    /// The first byte of the part that comes; nil if it does not say.
    var firstByte: Int? {
        fields["content-range"]?.split { !$0.isNumber }.first.flatMap { Int($0) }
    }

    /// Bytes of sound between two texts of metadata.
    var metadataInterval: Int {
        let interval = fields["icy-metaint"].flatMap { Int($0) } ?? 0
        return (1...(1 << 24)).contains(interval) ? interval : 0
    }

    /// Takes one line, as it came.
    mutating func parse(line: some StringProtocol) {
        let line = String(line).filter { !$0.isNewline }
        if line.hasPrefix("HTTP/") || line.hasPrefix("ICY ") {  // of another answer, behind a redirection
            fields = [:]
            status = line.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
            return
        }
        guard let colon = line.firstIndex(of: ":") else { return }
        let name = line[..<colon].lowercased()
        let value = line[line.index(after: colon)...].drop { $0 == " " }
        fields[name] = String(value)
    }
}

/// The end of a transfer.
enum HTTPEnding: Equatable, Sendable {
    case complete
    /// It may be tried again.
    case broken(reason: String)
    /// It may not.
    case failed(AudioStreamError)
}
