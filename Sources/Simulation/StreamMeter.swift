// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotCall
import EarshotPlayout

/// Measures the sound of one peer at another: the exact delay from microphone to loudspeaker, the depth of the jitter buffer, and
/// the glitches.
///
/// The delay is exact, not an estimate. Playout reports the stream's position at the beginning of a block, RTP timestamps relate
/// this position to the captured frame, and both cards know when a frame passes their converters. A struct, because each access
/// to a class's property is checked at run time.
struct StreamMeter {
    let from: Int
    private(set) var mouthToEar = SpreadMeter()
    private(set) var depth = SpreadMeter()
    private(set) var target = SpreadMeter()
    private(set) var series = SeriesMeter()
    /// The runs of successive blocks with concealed, skipped or inserted frames.
    private(set) var glitches = 0
    /// The second of the call at which measuring began; nil before.
    private(set) var began: Double?
    /// The statistics when measuring began; zeros after a renegotiation.
    private(set) var before = PlayoutStatistics()
    /// AAC's late units before the measurement.
    private(set) var lateUnitsBefore = 0
    /// The statistics at the latest measured block.
    private(set) var latest = PlayoutStatistics()

    private unowned let sender: SimulatedPeer
    private var faultyFrames = 0
    private var isInGlitch = false
    private var seenRestarts = -1
    private var positionShift = 0  // frames to add to the receiver's position for the sender's

    init(from: Int, sender: SimulatedPeer) {
        self.from = from
        self.sender = sender
    }

    /// Follows a renegotiation: another playout counts from 0.
    mutating func follow() {
        seenRestarts = -1
        before = PlayoutStatistics()
        faultyFrames = 0
    }

    /// Starts measuring with the next block; earlier counts are subtracted.
    mutating func begin(at elapsed: Double, _ statistics: PlayoutStatistics, lateUnits: Int) {
        began = elapsed
        lateUnitsBefore = lateUnits
        before = statistics
        latest = statistics
        faultyFrames = Self.faultyFrames(statistics)
    }

    /// Measures a block that was just rendered.
    /// - Parameters:
    ///   - receiver: the peer that heard the block.
    ///   - outputTime: the time at which the block's first frame passes the loudspeaker's converter.
    mutating func observe(
        _ statistics: PlayoutStatistics, of media: MediaPeer, at receiver: SimulatedPeer, outputTime: HostTime,
        elapsed: Double
    ) {
        guard statistics.isStarted, let began else { return }
        latest = statistics
        let faultyNow = Self.faultyFrames(statistics)
        if faultyNow != faultyFrames, !isInGlitch { glitches += 1 }
        isInGlitch = faultyNow != faultyFrames
        faultyFrames = faultyNow
        if seenRestarts != statistics.restarts {
            guard let found = offset(of: media, at: receiver) else { return }
            positionShift = found
            seenRestarts = statistics.restarts
        }
        let senderPosition = statistics.position + Double(positionShift - media.configuration.codecShift)
        let captured = sender.captureTime(ofStreamFrame: senderPosition, for: receiver.id)
        let delay = outputTime.seconds(since: captured)
        mouthToEar.add(delay)
        depth.add(statistics.depth)
        target.add(statistics.targetDepth)
        series.add(
            target: statistics.targetDepth, depth: statistics.depth, mouthToEar: delay, at: elapsed - began)
    }

    /// Returns the frames from the sender's position 0 to the receiver's, by their RTP timestamps; nil if one is unknown.
    private func offset(of media: MediaPeer, at receiver: SimulatedPeer) -> Int? {
        guard let theirs = sender.media(for: receiver.id)?.timestampOrigins.sent,
            let ours = media.timestampOrigins.received
        else { return nil }
        return Int(Int32(bitPattern: ours &- theirs))
    }

    private static func faultyFrames(_ statistics: PlayoutStatistics) -> Int {
        statistics.concealedFrames &+ statistics.droppedFrames &+ statistics.insertedFrames
    }
}
