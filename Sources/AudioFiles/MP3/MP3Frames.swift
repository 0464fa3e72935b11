// SPDX-License-Identifier: Apache-2.0

/// Cuts what an ``MP3Encoder`` gives into frames, the packets of MP3. Frames' sound may lie in the bytes of those before
/// them (the bit reservoir), so several may be finished at once, or none.
package struct MP3Frames: Sendable {
    private var bytes = StreamBuffer()

    /// A counter of no frames.
    package init() {}

    /// Appends the encoder's next bytes.
    package mutating func append(_ new: UnsafeRawBufferPointer) { bytes.append(new) }

    /// The next frame, header and all; nil if it is not all there.
    package mutating func next() -> [UInt8]? {
        guard let header = FrameHeader(bytes, at: 0), bytes.count >= header.length else { return nil }
        defer { bytes.drop(header.length) }
        return bytes.copy(0..<header.length)
    }
}
