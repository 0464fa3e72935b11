// SPDX-License-Identifier: Apache-2.0

/// The state of a stream.
public enum AudioStreamState: Equatable, Sendable {
    /// The stream has not been started, or was stopped.
    case stopped
    /// The stream waits for sound: at the beginning, in a stall or after a seek. Silence plays.
    case buffering
    /// The stream plays.
    case playing
    /// The connection was lost or could not be made. The buffered sound plays, then silence. `attempt` numbers the next attempt,
    /// from 1; `in` is the seconds until that attempt.
    case reconnecting(attempt: Int, in: Double)
    /// The client has paused a live stream for longer than the buffer lasts: the connection is closed and the buffer dropped;
    /// playback resumes live.
    case suspended
    /// All sound has been played.
    case ended
    /// The stream has failed.
    case failed(AudioStreamError)
}

/// A title and the frame at which it begins.
public struct AudioStreamTitle: Hashable, Sendable {
    /// The title as the station or the file gives it; stations usually send `ARTIST - TITLE`.
    public let text: String
    /// The first frame with this title, counted as in ``AudioStream/framePosition``.
    public let frame: Int
}

/// A server's description of a stream.
public struct AudioStreamSource: Hashable, Sendable {
    /// True for a live stream without end; false for a file.
    public var isLive = false
    /// The station's name; nil if the server does not send it.
    public var station: String?
    /// True if seeking works: a file of known length, on a server that sends any part of it.
    public var isSeekable = false
    /// The total number of frames at the output's sample rate; nil for a live stream, and for a file that does not declare it.
    public var frameCount: Int?
}

/// The counts of a stream so far.
public struct AudioStreamStatistics: Hashable, Sendable {
    /// Bytes received, without the metadata between the sound.
    public var bytesReceived = 0
    /// Frames decoded, at the output's sample rate.
    public var framesDecoded = 0
    /// Packets that could not be decoded and were replaced by silence.
    public var packetsConcealed = 0
    /// Bytes skipped because they belong to no packet.
    public var bytesSkipped = 0
    /// Attempts to connect again.
    public var reconnections = 0
    /// Times that the buffer ran empty before the end of the stream.
    public var stalls = 0
    /// Buffered frames of a live stream that were dropped after a long pause, to resume live.
    public var framesDropped = 0

    /// Creates counts of zero.
    package init() {}

    /// Returns the sums of two streams' counts.
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

/// The options of a stream.
public struct AudioStreamOptions: Hashable, Sendable {
    /// Seconds of sound to buffer before playback begins, or continues after a stall or a seek; at most half of the buffer.
    public var prebuffer = 1.0
    /// The maximum seconds of buffered sound, increased if a packet would not fit. The transfer waits while the buffer is full.
    public var buffer = 10.0
    /// Seconds without data, while the buffer has room, after which the connection counts as lost.
    public var stallTimeout = 15.0
    /// True to allow redirects from https to http.
    public var allowsDowngrade = false
    /// The path of a file of certificates to trust instead of the system's; nil to trust the system's.
    public var certificateFile: String?
    /// The delays and limits of connecting again.
    public var reconnection = ReconnectPolicy()

    /// Creates the default options.
    public init() {}
}
