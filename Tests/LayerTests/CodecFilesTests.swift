// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// A codec for calls is a row in Codec.swift, a row in CallCodec.swift and files of its own name.
@Suite struct CodecFilesTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Sources")
    private static let rows: Set = ["MediaTransport/Codec.swift", "Call/Codecs/CallCodec.swift"]
    /// The ladder of bit rates belongs to Opus, and PCM steps down to it.
    private static let ladder: Set = [
        "MediaTransport/Rate/SessionDescription+Rate.swift", "Call/Rate/RateRung.swift", "Call/Rate/RateEncoder.swift",
        "Call/Rate/RateState.swift",
    ]

    /// Returns the files of calls whose code names a codec as `.name`, except files of the codec's own name.
    private func files(naming codec: String) throws -> Set<String> {
        var found: Set<String> = []
        for layer in ["MediaTransport", "Call", "Playout"] {
            let folder = Self.root.appending(path: layer)
            for file in try FileManager.default.subpathsOfDirectory(atPath: folder.path)
            where file.hasSuffix(".swift") {
                let source = try String(contentsOf: folder.appending(path: file), encoding: .utf8)
                let name = file.split(separator: "/").last?.lowercased() ?? ""
                if name.hasPrefix(codec.lowercased()) { continue }
                if try ImportScanner.code(source).contains(Regex("\\.\(codec)\\b")) { found.insert("\(layer)/\(file)") }
            }
        }
        return found
    }

    @Test(arguments: ["aac", "opusCustom"]) func aCodecIsNamedInTwoRowsAndInItsOwnFiles(codec: String) throws {
        #expect(try files(naming: codec).subtracting(Self.rows) == [])
    }

    @Test(arguments: ["opus", "pcm"]) func theCodecsOfTheLadderAreNamedThereToo(codec: String) throws {
        #expect(try files(naming: codec).subtracting(Self.rows).subtracting(Self.ladder) == [])
    }
}
