// SPDX-License-Identifier: Apache-2.0

/// The song that the singers of a duet have chosen: a file, found by its hash, or a beat that each program makes by itself.
package struct DuetSong: Codable, Hashable, Sendable {
    /// The greatest size of a song's file in bytes.
    package static let largestFile: Int64 = 512 << 20
    /// The longest song in seconds.
    package static let longestDuration = 6 * 3_600.0
    /// The bytes of the longest name in a message.
    private static let longestName = 160
    /// The bytes of the longest new name in JSON, so that each message fits a datagram.
    private static let longestNewName = 120
    /// The shortest song, and the shortest beat, in seconds.
    package static let shortestDuration = 1.0

    /// The file's name without its folder, or that of the beat.
    package var name: String
    /// 0 for a beat, which has no file.
    package var byteCount: Int64
    /// The SHA-256 of the file in 64 hexadecimal digits; for a beat that of its description.
    package var hash: String
    /// The length in seconds.
    package var duration: Double
    /// The beat that counts the song in, or that is the song; nil if unknown.
    package var beat: Beat?
    /// True if the announcement of the room should not name the song; nil otherwise.
    package var isHidden: Bool?
    /// The first attempt of the song since it was chosen; nil for 1.
    package var firstAttempt: UInt32?
    /// The guide vocal, which each singer hears at a level of one's own; nil without one.
    package var guide: DuetGuide?

    private enum CodingKeys: String, CodingKey {
        case name, byteCount = "bytes", hash = "sha256", duration = "seconds", beat, isHidden = "hidden",
            firstAttempt = "first", guide
    }

    /// - Parameter name: is shortened to 120 bytes in JSON, without control characters.
    package init(name: String, byteCount: Int64, hash: String, duration: Double, beat: Beat? = nil) {
        var name = String(String.UnicodeScalarView(name.unicodeScalars.map { Self.isControl($0) ? "-" : $0 }))
        // Quotation marks and backslashes have two bytes in JSON.
        while name.utf8.count + name.utf8.count(where: { $0 == 0x22 || $0 == 0x5C }) > Self.longestNewName {
            name.removeLast()
        }
        (self.name, self.byteCount, self.hash, self.duration) = (name, byteCount, hash, duration)
        self.beat = beat
    }

    /// True for a beat in place of a song.
    package var isBeat: Bool { byteCount == 0 }

    /// The beat of the song's count-in.
    package var countIn: Beat { beat ?? .unknown }

    /// The name without the ending of a file.
    package var title: String {
        if isBeat { return name }
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count > 1 && !parts[0].isEmpty ? parts.dropLast().joined(separator: ".") : name
    }

    /// JSON writes a control character as six bytes.
    private static func isControl(_ scalar: Unicode.Scalar) -> Bool { scalar.value < 0x20 || scalar.value == 0x7F }

    /// False if no file and no beat can have these values.
    package var isValid: Bool {
        !name.isEmpty && name.utf8.count <= Self.longestName && isHash(hash)
            && !name.unicodeScalars.contains(where: Self.isControl)
            && (isBeat ? beat != nil && duration >= Self.shortestDuration : (1...Self.largestFile).contains(byteCount))
            && duration > 0 && duration <= Self.longestDuration && beat?.isValid ?? true && firstAttempt != 0
            && guide.map { $0.isValid && $0.hash != hash && !isBeat } ?? true
    }
}

/// A voice that helps to sing a song: a file of the same length, found by its hash.
package struct DuetGuide: Codable, Hashable, Sendable {
    package var byteCount: Int64
    /// The SHA-256 of the file in 64 hexadecimal digits.
    package var hash: String

    private enum CodingKeys: String, CodingKey { case byteCount = "bytes", hash = "sha256" }

    package init(byteCount: Int64, hash: String) { (self.byteCount, self.hash) = (byteCount, hash) }

    /// False if no file can have these values.
    var isValid: Bool { isHash(hash) && (1...DuetSong.largestFile).contains(byteCount) }
}

/// A singer's aligned stem of an attempt: a file, found by its hash.
package struct DuetStem: Codable, Hashable, Sendable {
    /// The greatest size of a stem's file in bytes: six hours in 24 bits.
    package static let largestFile: Int64 = 4 << 30

    /// The attempt that was sung.
    package var attempt: UInt32
    package var byteCount: Int64
    /// The SHA-256 of the file in 64 hexadecimal digits.
    package var hash: String

    private enum CodingKeys: String, CodingKey { case attempt, byteCount = "bytes", hash = "sha256" }

    package init(attempt: UInt32, byteCount: Int64, hash: String) {
        (self.attempt, self.byteCount, self.hash) = (attempt, byteCount, hash)
    }

    /// False if no file can have these values.
    var isValid: Bool { isHash(hash) && (1...Self.largestFile).contains(byteCount) }
}

private func isHash(_ text: String) -> Bool {
    text.utf8.count == 64 && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
}
