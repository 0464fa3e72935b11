// SPDX-License-Identifier: Apache-2.0

/// The description of a stream in an MP3's first frame: Xing's header with LAME's extension, or Fraunhofer's VBRI.
struct VBRHeader {
    /// True if the bit rate varies.
    let isVariable: Bool
    /// The number of frames of MPEG audio that follow; nil if unknown.
    let packetCount: Int?
    /// The number of bytes of the stream, with this first frame; nil if unknown.
    let byteCount: Int?
    /// The byte offset of each hundredth of the duration, in 256ths of the stream's bytes; empty if there is no table.
    let table: [UInt8]
    /// The number of frames that the encoder added before the sound; nil if unknown. ``padding`` is the number added after it.
    let delay: Int?
    let padding: Int
    /// The offset of the frame count in Xing's header, with the byte count after it; nil for VBRI or no header.
    let countOffset: Int?

    /// - Parameter frame: the frame at the beginning of `bytes`.
    init?(_ bytes: StreamBuffer, _ frame: FrameHeader) {
        guard frame.codec == .mp3, bytes.count >= frame.length else { return nil }
        let at = 4 + frame.sideLength
        if bytes.begins(with: "Xing", at: at) || bytes.begins(with: "Info", at: at), at + 8 <= frame.length {
            isVariable = bytes.begins(with: "Xing", at: at)
            var index = at + 8
            let flags = bytes.bigEndian(at + 4, 4)
            func field(_ bit: Int, _ length: Int) -> Int? {
                guard flags & bit != 0, index + length <= frame.length else { return nil }
                defer { index += length }
                return index
            }
            countOffset = flags & 1 != 0 && index + 4 <= frame.length ? index : nil
            packetCount = field(1, 4).map { bytes.bigEndian($0, 4) }
            byteCount = field(2, 4).map { bytes.bigEndian($0, 4) }
            table = field(4, 100).map { bytes.copy($0..<$0 + 100) } ?? []
            _ = field(8, 4)
            // LAME's extension: nine bytes of the encoder's name, twelve of other fields, then two numbers of twelve bits.
            if index + 24 <= frame.length, bytes[index] != 0 {
                let delayAndPadding = bytes.bigEndian(index + 21, 3)
                delay = delayAndPadding >> 12
                padding = delayAndPadding & 0xFFF
            } else {
                (delay, padding) = (nil, 0)
            }
        } else if bytes.begins(with: "VBRI", at: 36), 36 + 18 <= frame.length {
            isVariable = true
            byteCount = bytes.bigEndian(46, 4)
            packetCount = bytes.bigEndian(50, 4)
            table = []
            (delay, padding, countOffset) = (nil, 0, nil)
        } else {
            return nil
        }
    }
}
