// SPDX-License-Identifier: Apache-2.0

/// The state of a stream.
public enum AudioStreamState: Equatable, Sendable {
    /// Not started, or stopped.
    case stopped
    /// It waits for sound: at the beginning, or because too little came. Silence plays.
    case buffering
    /// It plays.
    case playing
    /// The connection is gone; what is held plays, then silence. The next attempt, from 1, is so many seconds away.
    case reconnecting(attempt: Int, in: Double)
    /// A station paused for longer than the buffer holds: the connection is closed and the buffer dropped; playback resumes live.
    case suspended
    /// All has been played.
    case ended
    /// It is over.
    case failed(AudioStreamError)
}

/// A title, and from where on it holds.
public struct AudioStreamTitle: Hashable, Sendable {
    /// The title as the station sends it, mostly `ARTIST - TITLE`.
    public let text: String
    /// The first frame that it is for, as ``AudioStream/framePosition``.
    public let frame: Int
}

/// A server's description of a stream.
public struct AudioStreamSource: Hashable, Sendable {
    /// True if it is a station that sends for ever; else a file, which has an end.
    public var isLive = false
    /// The station's name.
    public var station: String?
    /// True if it can be gone about in: a file whose length is known, from a server that sends any part of it.
    public var isSeekable = false
    /// Total frames at the output's rate; nil if the file does not say.
    public var frameCount: Int?
}

/// The counts of a stream so far.
public struct AudioStreamStatistics: Hashable, Sendable {
    /// Bytes of sound that came.
    public var bytesReceived = 0
    /// Frames decoded, at the output's rate.
    public var framesDecoded = 0
    /// Packets that could not be decoded and are silence.
    public var packetsConcealed = 0
    /// Bytes of no packet that were left out.
    public var bytesSkipped = 0
    /// Connections that were made anew.
    public var reconnections = 0
    /// Times that the sound ran out.
    public var stalls = 0
    /// Buffered frames of a station that were dropped after a long pause, to resume live.
    public var framesDropped = 0

    /// Counts of zero.
    package init() {}

    /// Returns the counts of two streams together.
    package static func + (a: Self, b: Self) -> Self {
        var sum = a
        sum.bytesReceived += b.bytesReceived
        sum.framesDecoded += b.framesDecoded
        sum.packetsConcealed += b.packetsConcealed
        sum.bytesSkipped += b.bytesSkipped
        sum.reconnections += b.reconnections
        sum.stalls += b.stalls
        sum.framesDropped += b.framesDropped
        return sum
    }
}

/// The options of playing a stream.
public struct AudioStreamOptions: Hashable, Sendable {
    /// Seconds of sound to have before it begins, or goes on after a stall.
    public var prebuffer = 1.0
    /// Seconds of sound to hold at most; the transfer waits while there are more.
    public var buffer = 10.0
    /// Seconds without a byte after which the connection counts as gone.
    public var stallTimeout = 15.0
    /// True if https may lead to http.
    public var allowsDowngrade = false
    /// A file of certificates to be trusted in place of the system's.
    public var certificateFile: String?
    /// When to try again.
    public var reconnection = ReconnectPolicy()

    /// The usual ones.
    public init() {}
}
