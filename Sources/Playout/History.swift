// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// The last frames that were played, in one piece: a window that slides through longer memory, so that a block moves as many
/// frames as it has and the window is moved back only now and then.
struct History: ~Copyable {
    /// Frames that it has of each channel, the newest last; silence before the first.
    let frameCount: Int

    private let memory: AudioBuffer
    private let channels: Channels  // of `memory`
    private let capacity: Int
    private var end: Int

    init(channelCount: Int, frameCount: Int) {
        self.frameCount = frameCount
        capacity = 8 * frameCount
        memory = AudioBuffer(channelCount: channelCount, frameCapacity: capacity)
        channels = memory.channels
        end = frameCount
    }

    /// A channel's frames; valid until the next ``append(_:offset:frameCount:)``.
    @_noLocks
    subscript(channel: Int) -> UnsafeMutablePointer<Float> { channels[channel] + (end &- frameCount) }

    /// Takes frames that were played.
    @_noLocks
    mutating func append(_ played: Channels, offset: Int, frameCount added: Int) {
        let count = min(added, frameCount)
        if end &+ count > capacity {
            let kept = frameCount &- count
            for c in 0..<channels.count { moveSamples(channels[c], channels[c] + (end &- kept), kept) }
            end = kept
        }
        let from = offset &+ added &- count
        for c in 0..<channels.count { copySamples(channels[c] + end, played[c] + from, count) }
        end &+= count
    }
}
