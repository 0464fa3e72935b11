// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// A decoded packet, or the codec's concealment of one, and how much of it was played.
struct PacketStage: ~Copyable {
    /// The maximum frames of a packet: 120 ms of Opus.
    static var capacity: Int { @_noLocks get { 5_760 } }
    /// The memory into which decoders write.
    let channels: Channels
    /// The frames still to be played; the first is at the index ``offset`` of ``channels``.
    private(set) var frameCount = 0
    private(set) var offset = 0
    /// The position on the stream's timeline of the frame at ``offset``.
    private(set) var position = 0
    private(set) var isConcealment = false

    private let owner: AudioBuffer

    init(channelCount: Int) {
        owner = AudioBuffer(channelCount: channelCount, frameCapacity: Self.capacity)
        channels = owner.channels
    }

    /// Declares that `channels` contain `frameCount` frames of the stream, from `position` on.
    @_noLocks
    mutating func set(position: Int, frameCount: Int, isConcealment: Bool) {
        self.position = position
        self.frameCount = frameCount
        self.isConcealment = isConcealment
        offset = 0
    }

    /// Removes the first `count` frames; the stage must have as many.
    @_noLocks
    mutating func removeFirst(_ count: Int) {
        frameCount &-= count
        offset &+= count
        position &+= count
    }

    @_noLocks
    mutating func removeAll() { frameCount = 0 }
}
