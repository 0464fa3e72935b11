// SPDX-License-Identifier: Apache-2.0

import EarshotAudioFiles
import Foundation

/// Parses playlists: M3U or PLS.
package enum StreamPlaylist {
    /// The maximum size of a playlist of streams, in bytes.
    static let maximumLength = 1 << 16
    private static let maximumEntries = 32
    /// The extensions of playlists, in lower case.
    package static let fileExtensions: Set<String> = ["m3u", "m3u8", "pls"]

    /// Returns the paths and addresses as they are written, in order. Text that is not UTF-8 is read as Latin-1.
    /// - Parameter count: the maximum number to return.
    /// - Returns: nil for HTTP Live Streaming, whose playlists name parts of a single stream.
    package static func names(in bytes: [UInt8], atMost count: Int) -> [String]? {
        let text =
            String(validating: bytes, as: UTF8.self)
            ?? String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
        guard !text.contains("#EXT-X-") else { return nil }
        let isPLS = text.drop { $0.isWhitespace || $0 == "\u{FEFF}" }.prefix(10).lowercased() == "[playlist]"
        var found: [String] = []
        for line in text.split(whereSeparator: \.isNewline).prefix(32 * count) where found.count < count {
            var entry = line.trimmingCharacters(in: .whitespaces)
            if entry.hasPrefix("\u{FEFF}") { entry.removeFirst() }
            if entry.isEmpty || entry.hasPrefix("#") { continue }
            if isPLS {  // File1=…
                guard let equals = entry.firstIndex(of: "="), entry.lowercased().hasPrefix("file") else { continue }
                entry = String(entry[entry.index(after: equals)...]).trimmingCharacters(in: .whitespaces)
            }
            found.append(entry)
        }
        return found
    }

    /// Returns the path of an entry of a playlist on the disk. An address is returned as it is.
    /// - Parameter folder: the playlist's.
    package static func path(of entry: String, inFolder folder: String) -> String {
        if isAddress(entry) || entry.hasPrefix("/") { return entry }
        if entry.lowercased().hasPrefix("file://"), let path = URL(string: entry)?.path, !path.isEmpty { return path }
        return (folder as NSString).appendingPathComponent(entry)
    }

    /// Returns true for an address over http or https.
    package static func isAddress(_ name: String) -> Bool {
        ["http://", "https://"].contains { name.lowercased().hasPrefix($0) }
    }

    /// Returns the addresses in a playlist. Relative ones are resolved against `address`, the playlist's own.
    /// - Throws: ``AudioStreamError/badPlaylist(address:reason:)``, or ``AudioStreamError/badAddress(_:)`` if no entry is a valid
    ///   address.
    static func entries(_ bytes: [UInt8], from address: StreamAddress) throws(AudioStreamError) -> [StreamAddress] {
        func bad(_ reason: String) -> AudioStreamError { .badPlaylist(address: address.description, reason: reason) }
        guard let names = names(in: bytes, atMost: maximumEntries) else {
            throw bad("a playlist of HTTP Live Streaming, which is not supported")
        }
        var found: [StreamAddress] = []
        var refused: AudioStreamError?
        for name in names {
            do {
                found.append(try address.resolving(name))
            } catch { refused = error }
        }
        guard !found.isEmpty else { throw refused ?? bad("a playlist without an address") }
        return found
    }
}

/// The address of a stream over http or https, or the name of a pipe.
struct StreamAddress: Hashable, Sendable, CustomStringConvertible {
    /// The full address. It may contain a user name and password, so never show it.
    let text: String
    /// True for https.
    let isSecure: Bool
    /// The address without user name, password, query and fragment; a pipe's name.
    let description: String
    /// True if the stream is read from a pipe.
    let isPipe: Bool

    /// - Throws: ``AudioStreamError/badAddress(_:)``.
    init(_ text: String) throws(AudioStreamError) {
        guard text.utf8.count <= 4_096, let parts = URLComponents(string: text), let host = parts.host, !host.isEmpty,
            let scheme = parts.scheme?.lowercased(), scheme == "http" || scheme == "https"
        else { throw .badAddress(Self.shown(text)) }
        self.text = text
        isSecure = scheme == "https"
        isPipe = false
        description = Self.shown(text)
    }

    init(pipe name: String) {
        (text, description) = (name, name)
        (isSecure, isPipe) = (false, true)
    }

    /// Resolves an address in a playlist against this one, the playlist's own.
    func resolving(_ entry: String) throws(AudioStreamError) -> StreamAddress {
        guard let base = URL(string: text), let url = URL(string: entry, relativeTo: base) else {
            throw .badAddress(Self.shown(entry))
        }
        return try StreamAddress(url.absoluteString)
    }

    static func shown(_ text: String) -> String {
        guard var parts = URLComponents(string: text) else { return "an invalid address" }
        parts.user = nil
        parts.password = nil
        parts.query = nil
        parts.fragment = nil
        return parts.string ?? "an invalid address"
    }
}
