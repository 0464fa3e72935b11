// SPDX-License-Identifier: Apache-2.0

/// Divides the output of an ``MP3Encoder`` into frames, the packets of MP3. A frame's sound may lie in the bytes of earlier
/// frames (the bit reservoir), so several frames may be complete at once, or none.
package struct MP3Frames: Sendable {
    private var bytes = StreamBuffer()

    /// Creates an empty divider.
    package init() {}

    /// Appends the encoder's next bytes.
    package mutating func append(_ new: UnsafeRawBufferPointer) { bytes.append(new) }

    /// Returns the next complete frame with its header; nil if there is none.
    package mutating func next() -> [UInt8]? {
        guard let header = FrameHeader(bytes, at: 0), bytes.count >= header.length else { return nil }
        defer { bytes.drop(header.length) }
        return bytes.copy(0..<header.length)
    }
}
