// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import EarshotPlayout

/// The statistics of the call with one remote peer: network, playout and levels.
public struct CallStatistics: Sendable {
    /// The negotiated configuration.
    public var configuration: CallConfiguration
    /// The direction of the media at the local peer.
    public var direction: SessionDescription.Direction
    /// The network counts, at most 0.15 s old.
    public var media: MediaStatistics
    /// The statistics of the remote voice's playout. Counts continue after a renegotiation, with frames converted to the new
    /// rate.
    public var playout = PlayoutStatistics()
    /// The forecast for each depth of the jitter buffer.
    package var forecast = PlayoutForecast()
    /// The level of the remote voice before its gain, and whether the participant speaks.
    public var level = VoiceLevel()
    /// The estimated seconds from the remote microphone to the local loudspeaker; nil until playout has
    /// started and the round trip is measured.
    public var mouthToEar: Double?
    /// The codecs that the remote peer does not offer or did not choose.
    package var missingCodecs: Set<Codec> = []

    /// Returns the estimated seconds from the remote microphone to the local loudspeaker: the remote block and the codec, half a
    /// round trip, the playout's delay, and the local output. Nil until playout has started.
    package func mouthToEar(roundTrip: Double, outputLatency: Double) -> Double? {
        guard playout.isStarted else { return nil }
        return configuration.codecDelay(framesPerPacket: playout.framesPerPacket) + roundTrip / 2 + playout.delay
            + outputLatency
    }
}

extension PlayoutStatistics {
    /// Adds the counts of an earlier playout of the same remote peer.
    /// - Parameter ratio: this stream's rate divided by the earlier one's.
    mutating func add(_ earlier: PlayoutStatistics, rateRatio ratio: Double) {
        func frames(_ count: Int) -> Int { ratio == 1 ? count : Int((Double(count) * ratio).rounded()) }
        packets += earlier.packets
        latePackets += earlier.latePackets
        missingPackets += earlier.missingPackets
        recoveredPackets += earlier.recoveredPackets
        requestedPackets += earlier.requestedPackets
        codecRecoveredPackets += earlier.codecRecoveredPackets
        glitches += earlier.glitches
        skips += earlier.skips
        restarts += earlier.restarts
        concealedFrames += frames(earlier.concealedFrames)
        stretchedFrames += frames(earlier.stretchedFrames)
        droppedFrames += frames(earlier.droppedFrames)
        insertedFrames += frames(earlier.insertedFrames)
    }
}
