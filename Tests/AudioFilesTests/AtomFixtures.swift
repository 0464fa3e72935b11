// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Bytes of MP4 atoms.
enum Atom {
    static func big(_ value: Int, _ byteCount: Int = 4) -> [UInt8] {
        (0..<byteCount).map { UInt8(truncatingIfNeeded: value >> (8 * (byteCount - 1 - $0))) }
    }

    static func make(_ name: String, _ body: [UInt8]) -> [UInt8] { big(body.count + 8) + Array(name.utf8) + body }

    /// An atom with a 64-bit size.
    static func makeLong(_ name: String, _ body: [UInt8]) -> [UInt8] {
        big(1) + Array(name.utf8) + big(body.count + 16, 8) + body
    }

    /// An atom that extends to the end of the file.
    static func makeOpen(_ name: String, _ body: [UInt8]) -> [UInt8] { big(0) + Array(name.utf8) + body }

    static let fileType = make("ftyp", Array("M4A ".utf8) + big(0))

    /// `udta` with a title in `meta`, `ilst`.
    static let tags = make("udta", meta)
    static let meta: [UInt8] = {
        let title = make("data", big(1) + big(0) + Array("Title".utf8))
        let item = big(title.count + 8) + [0xA9, 0x6E, 0x61, 0x6D] + title
        return make("meta", big(0) + make("ilst", item))
    }()

    /// A sound track whose chunks begin at `offsets`.
    /// - Parameters:
    ///   - is64Bit: true for `co64` instead of `stco`.
    ///   - count: the count that the table declares; nil for the true one.
    static func track(_ offsets: [Int], is64Bit: Bool = false, count: Int? = nil) -> [UInt8] {
        let entries = offsets.flatMap { big($0, is64Bit ? 8 : 4) }
        let table = make(is64Bit ? "co64" : "stco", big(0) + big(count ?? offsets.count) + entries)
        let handler = make("hdlr", big(0) + big(0) + Array("soun".utf8) + big(0) + big(0) + big(0))
        let header = make("mdhd", [UInt8](repeating: 0, count: 24))
        return make("trak", make("mdia", header + handler + make("minf", make("stbl", table))))
    }

    /// A fragment that declares where its sound begins.
    static func fragment(base: Int) -> [UInt8] {
        let header = make("tfhd", [0, 0, 0, 1] + big(1) + big(base, 8))
        return make("moof", make("mfhd", big(0) + big(1)) + make("traf", header))
    }

    /// `ftyp`, `moov` before its sound, and the sound, 64 bytes in two chunks. `movie` creates `moov` from the track.
    static func file(
        is64Bit: Bool = false, count: Int? = nil, movie: (_ track: [UInt8]) -> [UInt8]
    ) -> [UInt8] {
        let size = movie(track([0, 0], is64Bit: is64Bit, count: count)).count
        let start = fileType.count + size + 8
        return fileType + movie(track([start, start + 32], is64Bit: is64Bit, count: count)) + make("mdat", sound)
    }

    static let sound = [UInt8](100..<164)

    /// Returns the bytes at each entry of each chunk table, 16 of each; nil if an entry points outside the file.
    static func chunks(_ bytes: [UInt8]) -> [[UInt8]]? {
        var found: [[UInt8]] = []
        for (name, width) in [("stco", 4), ("co64", 8)] {
            guard let range = Data(bytes).range(of: Data(name.utf8)) else { continue }
            func number(_ at: Int, _ count: Int) -> Int { bytes[at..<at + count].reduce(0) { $0 << 8 | Int($1) } }
            for n in 0..<number(range.upperBound + 4, 4) {
                let at = number(range.upperBound + 8 + n * width, width)
                guard at + 16 <= bytes.count else { return nil }
                found.append(Array(bytes[at..<at + 16]))
            }
        }
        return found
    }
}
