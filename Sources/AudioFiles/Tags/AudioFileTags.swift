// SPDX-License-Identifier: Apache-2.0

/// A sound file's texts and pictures: ID3v2 in WAV, AIFF and MP3, INFO in WAV, Vorbis comments in FLAC and Ogg, iTunes' items in
/// M4A.
///
/// Common fields have the same names in all kinds of tags (`TITLE`, `ALBUMARTIST`, `TRACKNUMBER` …); other fields keep their own
/// names. So tags that were read from one kind can be written to another.
///
/// ```swift
/// var tags = try AudioFileTags(path: "take.flac")
/// tags.title = "Second take"
/// try tags.write(to: "take.mp3")
/// ```
public struct AudioFileTags: Hashable, Sendable {
    /// A position within a set, such as track 3 of 12.
    public struct Position: Hashable, Sendable {
        /// The number, from 1.
        public var number: Int
        /// The total; nil if unknown.
        public var total: Int?

        /// - Parameter number: from 1.
        public init(_ number: Int, of total: Int? = nil) {
            self.number = number
            self.total = total
        }
    }

    /// A picture.
    public struct Picture: Hashable, Sendable {
        /// The maximum bytes of a picture: 32 MiB.
        public static let maximumByteCount = 33_554_432
        /// The MIME type: `image/jpeg`, `image/png` …
        public var mimeType: String
        /// The picture's subject.
        public var kind: Kind
        /// The caption; M4A does not store it.
        public var description: String
        /// The bytes of the image file.
        public var bytes: [UInt8]

        /// - Parameter bytes: an image file of the type `mimeType`, at most ``maximumByteCount`` bytes.
        public init(mimeType: String, kind: Kind = .frontCover, description: String = "", bytes: [UInt8]) {
            self.mimeType = mimeType
            self.kind = kind
            self.description = description
            self.bytes = bytes
        }

        /// The subject of a picture, by the numbers of ID3v2. M4A does not store it: all its pictures are read as front covers.
        public struct Kind: RawRepresentable, Hashable, Sendable {
            /// The number in ID3v2, 0 to 20.
            public var rawValue: UInt8
            /// - Parameter rawValue: 0 to 20.
            public init(rawValue: UInt8) { self.rawValue = rawValue }
            /// Another subject.
            public static let other = Kind(rawValue: 0)
            /// The front of the cover.
            public static let frontCover = Kind(rawValue: 3)
            /// The back of the cover.
            public static let backCover = Kind(rawValue: 4)
            /// The record or disc itself.
            public static let media = Kind(rawValue: 6)
            /// The artist.
            public static let artist = Kind(rawValue: 8)
        }
    }

    /// The text fields by name in capitals; a field may have several values. A value of white space only is ignored. Names that
    /// are not printable ASCII, or contain `=` or `~`, are read but cannot be written.
    public var fields: [String: [String]] = [:]
    /// All pictures.
    public var pictures: [Picture] = []

    /// Creates empty tags.
    public init() {}

    /// True if there are no fields and no pictures.
    public var isEmpty: Bool { fields.isEmpty && pictures.isEmpty }

    /// The first value of a field; nil if there is none. Setting it replaces all values; nil removes the field.
    public subscript(name: String) -> String? {
        get { fields[name.uppercased()]?.first }
        set { fields[name.uppercased()] = newValue.map { [$0] } }
    }

    /// The title of the piece.
    public var title: String? {
        get { self["TITLE"] }
        set { self["TITLE"] = newValue }
    }
    /// The performer.
    public var artist: String? {
        get { self["ARTIST"] }
        set { self["ARTIST"] = newValue }
    }
    /// The title of the collection.
    public var album: String? {
        get { self["ALBUM"] }
        set { self["ALBUM"] = newValue }
    }
    /// The artist of the collection.
    public var albumArtist: String? {
        get { self["ALBUMARTIST"] }
        set { self["ALBUMARTIST"] = newValue }
    }
    /// The composer.
    public var composer: String? {
        get { self["COMPOSER"] }
        set { self["COMPOSER"] = newValue }
    }
    /// The genre.
    public var genre: String? {
        get { self["GENRE"] }
        set { self["GENRE"] = newValue }
    }
    /// A free comment.
    public var comment: String? {
        get { self["COMMENT"] }
        set { self["COMMENT"] = newValue }
    }
    /// The date of the recording: `2026`, `2026-11` or `2026-11-21`.
    public var date: String? {
        get { self["DATE"] }
        set { self["DATE"] = newValue }
    }
    /// The year of ``date``.
    public var year: Int? {
        get { date.flatMap { Int($0.prefix(4)) } }
        set { date = newValue.map(String.init) }
    }
    /// The beats per minute; M4A stores whole numbers.
    public var beatsPerMinute: Double? {
        get { self["BPM"].flatMap(Double.init).flatMap { $0.isFinite ? $0 : nil } }
        set { self["BPM"] = newValue.map { $0 == $0.rounded() && abs($0) < 1e6 ? String(Int($0)) : String($0) } }
    }
    /// The track's position on its disc.
    public var track: Position? {
        get { position("TRACKNUMBER") }
        set { setPosition("TRACKNUMBER", newValue) }
    }
    /// The disc's position in its set.
    public var disc: Position? {
        get { position("DISCNUMBER") }
        set { setPosition("DISCNUMBER", newValue) }
    }

    private func position(_ name: String) -> Position? {
        guard let parts = self[name]?.split(separator: "/", maxSplits: 1), let first = parts.first,
            let number = Int(first.filter { $0 != " " })
        else { return nil }
        return Position(number, of: parts.count > 1 ? Int(parts[1].filter { $0 != " " }) : nil)
    }

    private mutating func setPosition(_ name: String, _ position: Position?) {
        self[name] = position.map { $0.total.map { total in "\(position?.number ?? 0)/\(total)" } ?? "\($0.number)" }
    }
}
