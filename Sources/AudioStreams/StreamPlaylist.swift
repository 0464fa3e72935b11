import AudioFiles
import Foundation

/// What a playlist that names streams has in it: M3U or PLS.
enum StreamPlaylist {
    /// Bytes that one has at most.
    static let maximumLength = 1 << 16
    private static let maximumEntries = 32

    /// The addresses in it, in order, those within a folder completed by the playlist's own address.
    /// - Throws: ``AudioStreamError/badPlaylist(address:reason:)``.
    static func entries(_ bytes: [UInt8], from address: StreamAddress) throws(AudioStreamError) -> [StreamAddress] {
        let text = String(decoding: bytes, as: UTF8.self)
        func bad(_ reason: String) -> AudioStreamError { .badPlaylist(address: address.description, reason: reason) }
        guard !text.contains("#EXT-X-") else { throw bad("a playlist of HTTP Live Streaming, which is not supported") }
        var found: [StreamAddress] = []
        var refused: AudioStreamError?
        for line in text.split(whereSeparator: \.isNewline).prefix(1_024) where found.count < maximumEntries {
            var entry = line.trimmingCharacters(in: .whitespaces)
            if entry.hasPrefix("\u{FEFF}") { entry.removeFirst() }
            if entry.isEmpty || entry.hasPrefix("#") || entry.hasPrefix("[") { continue }
            if let equals = entry.firstIndex(of: "="), !entry[..<equals].contains("/") {  // of PLS: File1=…
                guard entry.lowercased().hasPrefix("file") else { continue }
                entry = String(entry[entry.index(after: equals)...]).trimmingCharacters(in: .whitespaces)
            }
            do {
                found.append(try address.resolving(entry))
            } catch { refused = error }
        }
        guard !found.isEmpty else { throw refused ?? bad("a playlist without an address") }
        return found
    }
}

/// Where a stream is, over http or https.
struct StreamAddress: Hashable, Sendable, CustomStringConvertible {
    /// What is connected to: with name and password, so never to be shown.
    let text: String
    /// Whether it is encrypted.
    let isSecure: Bool
    /// Without name, password and query.
    let description: String

    /// - Throws: ``AudioStreamError/badAddress(_:)``.
    init(_ text: String) throws(AudioStreamError) {
        guard text.utf8.count <= 4_096, let parts = URLComponents(string: text), let host = parts.host, !host.isEmpty,
            let scheme = parts.scheme?.lowercased(), scheme == "http" || scheme == "https"
        else { throw .badAddress(Self.shown(text)) }
        self.text = text
        isSecure = scheme == "https"
        description = Self.shown(text)
    }

    /// What an address in a playlist means.
    func resolving(_ entry: String) throws(AudioStreamError) -> StreamAddress {
        guard let base = URL(string: text), let url = URL(string: entry, relativeTo: base) else {
            throw .badAddress(Self.shown(entry))
        }
        return try StreamAddress(url.absoluteString)
    }

    private static func shown(_ text: String) -> String {
        guard var parts = URLComponents(string: text) else { return "what was given" }
        parts.user = nil
        parts.password = nil
        parts.query = nil
        parts.fragment = nil
        return parts.string ?? "what was given"
    }
}
