// SPDX-License-Identifier: Apache-2.0

import EarshotAudioFiles

/// Finds the frames of an ADTS file by their headers.
enum ADTSScanner {
    private static let windowByteCount = 1 << 18
    private static let maximumFaults = 1_000
    /// The maximum number of packets in a file: 97 hours at 48 kHz.
    static let maximumPacketCount = 1 << 24

    /// Returns all complete frames with their headers. Bytes that are not a frame are skipped and reported as a fault of the next
    /// frame. A frame cut by the file's end is skipped without a fault, since a killed recorder leaves one.
    /// - Returns: no packets if there is no frame.
    /// - Throws: ``AudioFileError/notAudio(path:reason:)`` for more packets than `limit`, since each takes memory.
    static func scan(_ file: ReadableFile, limit: Int = maximumPacketCount) throws(AudioFileError) -> PacketTable {
        var table = PacketTable()
        var offset = ID3Prefix.length(file)
        var window = StreamBuffer([])
        var windowStart = offset
        var stream: [UInt8]?  // the configuration of all frames of the stream
        var junk: Int?  // the offset at which bytes that are no frame began
        while offset + FrameHeader.byteCount <= file.byteCount {
            // The window must contain a frame and the header of the next one.
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
                    table.faults[table.count] = "bytes \(junk) to \(offset - 1) are not ADTS frames"
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

    /// Returns the frame at an index if it is complete. Unless `sure`, the frame must belong to the same stream and be followed
    /// by another frame or the file's end.
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
