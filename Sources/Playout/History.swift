// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// The last played frames in contiguous memory: a window that slides through a longer buffer, so that a block copies only its own
/// frames and the window is moved back now and then.
struct History: ~Copyable {
    /// The number of frames in the window; before the first played frame there is silence.
    let frameCount: Int

    private let memory: AudioBuffer
    private let channels: Channels  // of `memory`
    private let capacity: Int
    private var end: Int  // the index after the newest frame

    init(channelCount: Int, frameCount: Int) {
        self.frameCount = frameCount
        capacity = 8 * frameCount
        memory = AudioBuffer(channelCount: channelCount, frameCapacity: capacity)
        channels = memory.channels
        end = frameCount
    }

    /// The window's frames of a channel, the newest last; valid until the next ``append(_:offset:frameCount:)``.
    @_noLocks
    subscript(channel: Int) -> UnsafeMutablePointer<Float> { channels[channel] + (end &- frameCount) }

    /// Appends played frames.
    @_noLocks
    mutating func append(_ played: Channels, offset: Int, frameCount added: Int) {
        let count = min(added, frameCount)
        if end &+ count > capacity {
            let keptFrames = frameCount &- count
            for c in 0..<channels.count { moveSamples(channels[c], channels[c] + (end &- keptFrames), keptFrames) }
            end = keptFrames
        }
        let from = offset &+ added &- count
        for c in 0..<channels.count { copySamples(channels[c] + end, played[c] + from, count) }
        end &+= count
    }
}
