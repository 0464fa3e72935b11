// SPDX-License-Identifier: Apache-2.0

/// A packet for a ``RenderDecoder``, and the memory for the decoded sound.
@frozen
package struct DecoderCall: BitwiseCopyable {
    /// The payload; nil to conceal frames.
    package var bytes: UnsafePointer<UInt8>?
    /// The length of the payload in bytes.
    package var byteCount: Int
    /// The stream's frame at which the packet begins.
    package var position: Int
    /// The frames to decode (by the packet's header), to conceal, or to recover from a copy.
    package var frameCount: Int
    /// The memory for the decoded sound, written from its first frame on.
    package var output: Channels
    /// The capacity of `output` in frames.
    package var capacity: Int

    /// Creates a call.
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
