// SPDX-License-Identifier: Apache-2.0

import CEarshotSndfile

/// Content of a sound file besides its sound, tags and pictures.
package enum AudioFileExtra: String, Sendable, CaseIterable {
    /// Chapters of ID3v2 or MPEG-4.
    case chapters
    /// Named positions in WAV or AIFF.
    case markers
    /// A sampler's loops in WAV.
    case loops
    /// A FLAC file's cue sheet.
    case cueSheet
    /// The broadcast extension of a WAV (EBU Tech 3285): the time at which the sound begins, its origin and description.
    case broadcastInfo
    /// The iXML of a WAV: scene, take, tracks.
    case productionNotes

    /// The maximum number of FLAC blocks that are searched.
    private static let maximumBlockCount = 10_000

    /// Returns the extras of a file that libsndfile has opened.
    static func all(in file: OpaquePointer, _ source: ReadableFile) -> [AudioFileExtra] {
        allCases.filter { extra in
            switch extra {
            case .chapters: (try? TaggedFile(source))?.hasChapters ?? false
            case .markers: hasMarkers(file)
            case .loops: hasLoops(file)
            case .cueSheet: hasCueSheet(source)
            case .broadcastInfo: BroadcastInfo(file) != nil
            case .productionNotes: hasChunk("iXML", file)
            }
        }
    }

    private static func hasMarkers(_ file: OpaquePointer) -> Bool {
        var count: UInt32 = 0
        let size = CInt(MemoryLayout<UInt32>.size)
        return sf_command(file, CInt(SFC_GET_CUE_COUNT), &count, size) != 0 && count > 0
    }

    private static func hasLoops(_ file: OpaquePointer) -> Bool {
        var instrument = SF_INSTRUMENT()
        let size = CInt(MemoryLayout<SF_INSTRUMENT>.size)
        return sf_command(file, CInt(SFC_GET_INSTRUMENT), &instrument, size) != 0 && instrument.loop_count > 0
    }

    private static func hasChunk(_ name: String, _ file: OpaquePointer) -> Bool {
        var chunk = SF_CHUNK_INFO()
        withUnsafeMutableBytes(of: &chunk.id) { $0.copyBytes(from: name.utf8) }
        chunk.id_size = UInt32(name.utf8.count)
        return sf_get_chunk_iterator(file, &chunk) != nil
    }

    /// Returns true if a FLAC file has a cue sheet block (RFC 9639, section 8.7).
    private static func hasCueSheet(_ file: ReadableFile) -> Bool {
        var offset = ID3Prefix.length(file)
        guard file.bytes(at: offset, count: 4).elementsEqual("fLaC".utf8) else { return false }
        offset += 4
        for _ in 0..<maximumBlockCount {
            let head = StreamBuffer(file.bytes(at: offset, count: 4))
            guard head.count == 4 else { break }
            if head[0] & 0x7F == 5 { return true }
            guard head[0] & 0x80 == 0 else { break }
            offset += 4 + head.bigEndian(1, 3)
        }
        return false
    }
}
