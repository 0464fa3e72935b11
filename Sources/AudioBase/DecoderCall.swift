// SPDX-License-Identifier: Apache-2.0

/// A packet that a ``RenderDecoder`` decodes, and the memory for its sound.
@frozen
package struct DecoderCall: BitwiseCopyable {
    /// The payload; nil if frames are to be concealed.
    package var bytes: UnsafePointer<UInt8>?
    /// Bytes of the payload.
    package var byteCount: Int
    /// The stream's frame that the packet begins with.
    package var position: Int
    /// Frames of sound in the packet by its header, or frames to be concealed or recovered.
    package var frameCount: Int
    /// Memory for the sound, which begins at its start.
    package var output: Channels
    /// Frames that `output` has room for.
    package var capacity: Int

    /// A call of these values.
    @inlinable @_noLocks
    package init(
        bytes: UnsafePointer<UInt8>?, byteCount: Int, position: Int, frameCount: Int, output: Channels, capacity: Int
    ) {
        self.bytes = bytes
        self.byteCount = byteCount
        self.position = position
        self.frameCount = frameCount
        self.output = output
        self.capacity = capacity
    }
}
