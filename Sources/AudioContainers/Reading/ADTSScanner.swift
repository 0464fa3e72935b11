// SPDX-License-Identifier: Apache-2.0

import EarshotAudioFiles

/// Finds the frames of an ADTS file by their headers.
enum ADTSScanner {
    private static let windowByteCount = 1 << 18
    private static let maximumFaults = 1_000
    /// Packets of a file at most: 97 hours at 48 kHz.
    static let maximumPacketCount = 1 << 24

    /// All whole frames, headers included. What is no frame is left out, with a fault at the frame behind it; a frame that
    /// the file's end has cut is left out without one, since a recorder that was killed leaves it.
    /// - Returns: no packets if there is no frame.
    /// - Throws: ``AudioFileError/notAudio(path:reason:)`` of more packets than `limit`, since each takes memory.
    static func scan(_ file: ReadableFile, limit: Int = maximumPacketCount) throws(AudioFileError) -> PacketTable {
        var table = PacketTable()
        var offset = ID3Prefix.length(file)
        var window = StreamBuffer([])
        var windowStart = offset
        var stream: [UInt8]?  // what all its frames agree in
        var junk: Int?  // where what is no frame began
        while offset + FrameHeader.byteCount <= file.byteCount {
            // A frame and the next one's header lie in the window.
            if offset + 8_192 + FrameHeader.byteCount > windowStart + window.count,
                windowStart + window.count < file.byteCount
            {
                windowStart = offset
                window = StreamBuffer(file.bytes(at: offset, count: windowByteCount))
                if window.count < FrameHeader.byteCount { break }
            }
            if let frame = frame(window, offset - windowStart, left: file.byteCount - offset, stream, sure: junk == nil)
            {
                if let junk, table.faults.count < maximumFaults {
                    table.faults[table.count] = "bytes \(junk) to \(offset - 1) are no ADTS frames"
                }
                junk = nil
                guard table.count < limit else {
                    throw .notAudio(path: file.path, reason: "it has more than \(limit) packets, at byte \(offset)")
                }
                table.append(offset: offset, size: frame.length)
                stream = stream ?? frame.configuration
                offset += frame.length
            } else {
                if junk == nil { junk = offset }
                offset += 1
            }
        }
        return table
    }

    /// The frame at an index, if it is whole. Behind junk it must be of the same stream, and another must follow it or the file's
    /// end.
    private static func frame(
        _ bytes: StreamBuffer, _ index: Int, left: Int, _ stream: [UInt8]?, sure: Bool
    ) -> FrameHeader? {
        guard let header = FrameHeader(bytes, at: index), header.codec == .aac, header.length <= left else {
            return nil
        }
        if sure { return header }
        guard stream == nil || stream == header.configuration else { return nil }
        if bytes.count == index + header.length { return header }
        return FrameHeader(bytes, at: index + header.length)?.configuration == header.configuration ? header : nil
    }
}
