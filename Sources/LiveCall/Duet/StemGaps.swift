// SPDX-License-Identifier: Apache-2.0

import EarshotAudioFiles
import EarshotDuet
import Foundation

/// The gaps of a stem in a field of its FLAC file, for the singers who receive it.
enum StemGaps {
    /// The field of the Vorbis comment: a JSON array of ``StemGap``.
    private static let field = "EARSHOT_GAPS"
    /// The maximum number of gaps; later ones are not in the field.
    private static let limit = 1_000
    /// The maximum bytes of a field that is read.
    private static let maximumByteCount = 1 << 18

    /// Writes the gaps to a stem, whose sound is unchanged.
    static func write(_ gaps: [StemGap], to path: String) throws(AudioFileError) {
        guard !gaps.isEmpty else { return }
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let data = (try? encoder.encode(Array(gaps.prefix(limit)))) ?? Data()  // every value can be encoded
        var tags = AudioFileTags()
        tags[field] = String(decoding: data, as: UTF8.self)
        try tags.write(to: path)
    }

    /// Reads the gaps of a stem, which may come from a stranger; empty without a field that can be read.
    static func read(_ path: String) -> [StemGap] {
        guard let text = (try? AudioFileTags(path: path))?[field], text.utf8.count <= maximumByteCount else {
            return []
        }
        return (try? JSONDecoder().decode([StemGap].self, from: Data(text.utf8))).map { Array($0.prefix(limit)) } ?? []
    }
}
