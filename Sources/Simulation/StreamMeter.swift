// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotCall
import EarshotPlayout

/// Measures the sound of one peer at another: the exact delay from microphone to loudspeaker, the depth of the jitter buffer, and
/// all differences.
///
/// The delay is neither estimated nor correlated. Playout reports the stream's position at the beginning of a block, RTP's
/// timestamps relate it to the captured frame, and both cards know when a frame passes their converters. A value, as each access
/// to a class's property is checked at run time.
struct StreamMeter {
    let from: Int
    private(set) var mouthToEar = SpreadMeter()
    private(set) var depth = SpreadMeter()
    private(set) var target = SpreadMeter()
    private(set) var series = SeriesMeter()
    /// The runs of blocks with concealed, skipped or added frames.
    private(set) var glitches = 0
    /// The second of the call at which measuring began.
    private(set) var began: Double?
    /// The statistics at the start of the measurement.
    private(set) var before = PlayoutStatistics()
    /// AAC's late units before the measurement.
    private(set) var lateUnitsBefore = 0
    /// The current counts.
    private(set) var latest = PlayoutStatistics()

    private unowned let sender: SimulatedPeer
    private var faults = 0
    private var isInGlitch = false
    private var restarts = -1
    private var shift = 0  // from the receiver's positions to the sender's

    init(from: Int, sender: SimulatedPeer) {
        self.from = from
        self.sender = sender
    }

    /// Follows a renegotiation: another playout counts from 0.
    mutating func follow() {
        restarts = -1
        before = PlayoutStatistics()
        faults = 0
    }

    /// Starts measuring with the next block; earlier counts are subtracted.
    mutating func begin(at elapsed: Double, _ statistics: PlayoutStatistics, lateUnits: Int) {
        began = elapsed
        lateUnitsBefore = lateUnits
        before = statistics
        latest = statistics
        faults = Self.faults(statistics)
    }

    /// Measures a block that was just rendered.
    /// - Parameters:
    ///   - receiver: the peer that heard it.
    ///   - outputTime: the time at which the block's first frame passes the loudspeaker's converter.
    mutating func observe(
        _ statistics: PlayoutStatistics, of media: MediaPeer, at receiver: SimulatedPeer, outputTime: HostTime,
        elapsed: Double
    ) {
        guard statistics.isStarted, let began else { return }
        latest = statistics
        let now = Self.faults(statistics)
        if now != faults, !isInGlitch { glitches += 1 }
        isInGlitch = now != faults
        faults = now
        if restarts != statistics.restarts {
            guard let found = offset(of: media, at: receiver) else { return }
            shift = found
            restarts = statistics.restarts
        }
        let place = statistics.position + Double(shift - media.configuration.codecShift)
        let captured = sender.captureTime(ofStreamFrame: place, for: receiver.id)
        let delay = outputTime.seconds(since: captured)
        mouthToEar.add(delay)
        depth.add(statistics.depth)
        target.add(statistics.targetDepth)
        series.add(
            target: statistics.targetDepth, depth: statistics.depth, mouthToEar: delay, at: elapsed - began)
    }

    /// Returns the frames between the receiver's position 0 and the sender's: both know the RTP timestamp of theirs.
    private func offset(of media: MediaPeer, at receiver: SimulatedPeer) -> Int? {
        guard let theirs = sender.media(for: receiver.id)?.timestampOrigins.sent,
            let ours = media.timestampOrigins.received
        else { return nil }
        return Int(Int32(bitPattern: ours &- theirs))
    }

    private static func faults(_ statistics: PlayoutStatistics) -> Int {
        statistics.concealedFrames &+ statistics.droppedFrames &+ statistics.insertedFrames
    }
}
