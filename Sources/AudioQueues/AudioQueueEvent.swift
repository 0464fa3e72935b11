// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioCodecs

/// The time at which playback or recording begins.
public enum AudioQueueTime: Hashable, Sendable {
    /// At the next block.
    case now
    /// At this frame of the engine's counter, ``AudioEngine/sampleTime``. A past frame means now; values beyond 2⁵⁰ are clamped.
    /// For a stopped engine the frame counts from its next start.
    case sample(Int64)
    /// At this instant of the machine's clock; at the next block if the engine is not rendering.
    case host(HostTime)
}

/// Sound that was lost, and when.
public struct AudioQueueLoss: Hashable, Sendable {
    /// The kind of loss.
    public enum Kind: Hashable, Sendable {
        /// An output queue had no buffer: silence was played instead.
        case underrun
        /// An input queue had no buffer: captured frames were dropped.
        case overrun
        /// A buffer's start time had passed already: its first frames were skipped.
        case late
        /// The device skipped frames, at an xrun or a route change: they were never captured.
        case skipped
        /// Packets could not be decoded: silence replaces them.
        case undecodable
        /// An input queue's encoder failed: captured frames are in no packet.
        case unencodable
    }
    /// The kind of loss.
    public let kind: Kind
    /// The number of lost frames, at the queue's rate.
    public let frameCount: Int
    /// The first lost frame, on the engine's frame counter at the queue's rate; nil for packets, which are decoded ahead.
    public let sampleTime: Int64?
    /// The number of frames played, recorded or decoded before the loss.
    public let position: Int

    /// Creates a loss.
    package init(kind: Kind, frameCount: Int, sampleTime: Int64?, position: Int) {
        self.kind = kind
        self.frameCount = frameCount
        self.sampleTime = sampleTime
        self.position = position
    }
}

/// An event of a queue, sent in order, never on the render thread.
public enum AudioQueueEvent: Hashable, Sendable {
    /// The first frame since a start was played or captured, at this frame of the engine's counter at the queue's rate.
    case started(sampleTime: Int64)
    /// The queue is paused, and keeps its position.
    case paused
    /// The queue came to its end, or was stopped.
    case stopped
    /// Sound was lost.
    case lost(AudioQueueLoss)
    /// An input queue's encoder failed. No more packets come until the queue is stopped and started again.
    case failed(CodecError)
    /// The volume, pan or rate was set to this value, clamped to its range.
    case changed(Property)

    /// A property that can be set.
    public enum Property: Hashable, Sendable {
        /// The gain.
        case volume(Float)
        /// The pan, −1 to 1.
        case pan(Float)
        /// The speed as a factor.
        case rate(Float)
    }
}

/// The losses of a queue so far, in frames at its rate.
public struct AudioQueueStatistics: Hashable, Sendable {
    /// Frames played or recorded.
    public var frameCount = 0
    /// Frames of silence played at underruns.
    public var underrun = 0
    /// Captured frames dropped because no buffer was enqueued.
    public var overrun = 0
    /// Frames skipped because their buffer's start time had passed.
    public var late = 0
    /// Frames that the device never captured.
    public var skipped = 0
    /// Frames of packets that could not be decoded.
    public var undecodable = 0
    /// Captured frames that are in no packet, because the encoder failed.
    public var unencodable = 0
}
