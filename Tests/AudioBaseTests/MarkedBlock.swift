// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// Planar buffers in which each sample encodes its frame's position and its channel, with guard words around each channel.
struct MarkedBlock {
    static let margin = 8
    static let guardWord: Float = -12_345.5
    let frameCapacity: Int
    let channels: Channels
    private let buffer: AudioBuffer  // each channel is `margin` words longer at both ends
    private let inner: AudioBuffer  // its only use is to own memory for the pointers

    init(channelCount: Int, frameCapacity: Int) {
        self.frameCapacity = frameCapacity
        buffer = AudioBuffer(channelCount: channelCount, frameCapacity: frameCapacity + 2 * Self.margin)
        inner = AudioBuffer(channelCount: 1, frameCapacity: 2 * channelCount)
        let pointers = UnsafeMutableRawPointer(inner.channels[0]).bindMemory(
            to: UnsafeMutablePointer<Float>.self, capacity: channelCount)
        for c in 0..<channelCount { pointers[c] = buffer.channels[c] + Self.margin }
        channels = Channels(pointers, count: channelCount)
        wipe()
    }

    /// Exact in a Float for up to 8 channels.
    static func mark(_ position: Int, _ channel: Int) -> Float { Float(position & 0xFFFFF | channel << 20) }

    func wipe() {
        for c in 0..<buffer.channels.count {
            for i in 0..<buffer.frameCapacity { buffer.channels[c][i] = Self.guardWord }
        }
    }

    func fill(position: Int, frameCount: Int, offset: Int) {
        for c in 0..<channels.count {
            let samples = channels[c] + offset
            for i in 0..<frameCount { samples[i] = Self.mark(position + i, c) }
        }
    }

    /// Returns true if it holds exactly these frames, and intact guard words everywhere else.
    func holds(position: Int, frameCount: Int, offset: Int) -> Bool {
        for c in 0..<channels.count {
            let samples = channels[c]
            var i = -Self.margin
            while i < frameCapacity + Self.margin {
                let read = i >= offset && i < offset + frameCount
                if samples[i] != (read ? Self.mark(position + i - offset, c) : Self.guardWord) { return false }
                i += 1
            }
        }
        return true
    }
}
