// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioCodecs

/// When something is to begin.
public enum AudioQueueTime: Hashable, Sendable {
    /// At the next block.
    case now
    /// At this frame of the engine's counter, ``AudioEngine/sampleTime``. What is over is due now; beyond 2⁵⁰ is brought to it.
    /// Of an engine that stands it is the frame after its next start.
    case sample(Int64)
    /// At this instant of the machine's clock. The engine must be rendering.
    case host(HostTime)
}

/// Sound that was lost, and when.
public struct AudioQueueLoss: Hashable, Sendable {
    /// The kind of loss.
    public enum Kind: Hashable, Sendable {
        /// A queue that plays had no buffer: so many frames of silence were played instead.
        case underrun
        /// A queue that records had no buffer: so many captured frames are in none.
        case overrun
        /// A buffer came after the time that it was enqueued for: so many of its first frames were left out.
        case late
        /// The device skipped frames, by an xrun or another route: they were never captured.
        case skipped
        /// Packets that could not be decoded: silence is in their place.
        case undecodable
        /// A queue's encoder has failed: so many captured frames are in no packet.
        case unencodable
    }
    /// The kind of loss.
    public let kind: Kind
    /// Frames, at the queue's rate.
    public let frameCount: Int
    /// The first of them, on the engine's frame counter brought to the queue's rate; nil of packets, which are decoded ahead.
    public let sampleTime: Int64?
    /// Frames of the stream that were played, recorded or decoded before it.
    public let position: Int

    /// A loss of this kind.
    package init(kind: Kind, frameCount: Int, sampleTime: Int64?, position: Int) {
        self.kind = kind
        self.frameCount = frameCount
        self.sampleTime = sampleTime
        self.position = position
    }
}

/// An event of a queue. Told in the order in which it happened, off the render thread.
public enum AudioQueueEvent: Hashable, Sendable {
    /// The first frame was played or captured, at this frame of the engine's counter brought to the queue's rate.
    case started(sampleTime: Int64)
    /// It stands still, and will go on where it is.
    case paused
    /// It has come to its end, or was stopped.
    case stopped
    /// Sound was lost.
    case lost(AudioQueueLoss)
    /// The encoder of a queue that records has failed: until it is stopped and started again no more packets come.
    case failed(CodecError)
    /// Its volume, pan or rate was set, to this: what was out of range has been brought into it.
    case changed(Property)

    /// A property that can be set.
    public enum Property: Hashable, Sendable {
        /// A factor.
        case volume(Float)
        /// −1 to 1.
        case pan(Float)
        /// A factor of speed.
        case rate(Float)
    }
}

/// The losses of a queue so far, in frames at its rate.
public struct AudioQueueStatistics: Hashable, Sendable {
    /// Played or recorded.
    public var frameCount = 0
    /// Missing, by an underrun.
    public var underrun = 0
    /// Captured, but not recorded, as there was no buffer.
    public var overrun = 0
    /// Left out as they came late.
    public var late = 0
    /// Never captured.
    public var skipped = 0
    /// In packets that could not be decoded.
    public var undecodable = 0
    /// Captured, but in no packet, as the encoder had failed.
    public var unencodable = 0
}
