import MediaTransport
import Playout

/// How the call with one far side stands: what the wire, playout and the ears say.
public struct CallStatistics: Sendable {
    /// What was agreed on.
    public var configuration: CallConfiguration
    /// Which way sound goes, as this end sees it.
    public var direction: SessionDescription.Direction
    /// What went over the wire, up to 0.15 s ago.
    public var media: MediaStatistics
    /// What was made of it.
    public var playout = PlayoutStatistics()
    /// How loud the far side's voice is as it is played, and whether it speaks.
    public var level = VoiceLevel()
    /// Seconds from the far side's microphone to this loudspeaker, estimated; nil until both ways are known.
    public var mouthToEar: Double?
}
