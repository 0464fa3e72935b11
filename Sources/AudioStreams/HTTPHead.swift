// SPDX-License-Identifier: Apache-2.0

/// A server's response before its body.
struct HTTPHead: Equatable, Sendable {
    var status = 0
    /// The header fields by lower-case name. The last of repeated fields is kept.
    var fields: [String: String] = [:]
    /// The final address after all redirects. It may contain a user name and password, so never show it.
    var address: String

    /// True for a live stream without end.
    var isLive: Bool { fields.keys.contains { $0.hasPrefix("icy-") || $0.hasPrefix("ice-") } }

    /// True for a file whose transfer can be resumed after a break.
    var isResumable: Bool { !isLive && (status == 206 || fields["content-length"] != nil || offersRanges) }

    /// True if the server sends any part of the file.
    var isSeekable: Bool { !isLive && byteCount != nil && (status == 206 || offersRanges) }

    private var offersRanges: Bool { fields["accept-ranges"]?.lowercased() == "bytes" }

    /// The length of the whole file in bytes, not of the requested part; nil if the server does not declare it.
    var byteCount: Int? {
        let text = status == 206 ? fields["content-range"]?.split(separator: "/").last : fields["content-length"]?[...]
        return text.flatMap { Int($0) }.flatMap { $0 >= 0 ? $0 : nil }
    }

    /// The offset in the file, in bytes, of the response's first byte; nil if the server does not declare it.
    var firstByte: Int? {
        fields["content-range"]?.split { !$0.isNumber }.first.flatMap { Int($0) }
    }

    /// Bytes of sound between two blocks of metadata; 0 if there is no metadata.
    var metadataInterval: Int {
        let interval = fields["icy-metaint"].flatMap { Int($0) } ?? 0
        return (1...(1 << 24)).contains(interval) ? interval : 0
    }

    /// Parses one line of a response's head, as received.
    mutating func parse(line: some StringProtocol) {
        let line = String(line).filter { !$0.isNewline }
        // The status line of a response; the response may follow a redirect.
        if line.hasPrefix("HTTP/") || line.hasPrefix("ICY ") {
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
    /// The transfer may be tried again.
    case broken(reason: String)
    /// The transfer must not be tried again.
    case failed(AudioStreamError)
}
