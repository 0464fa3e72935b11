// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotCall
import EarshotPlayout

/// Measures the sound of one peer at another: the delay from microphone to loudspeaker, exactly, the depth of the jitter buffer,
/// and all differences.
///
/// The delay is no estimate and no correlation. Playout says which place of the stream a block begins with, RTP's timestamps
/// where that is in what the sender captured, and both cards when a frame passes their converters. A value,
/// as each look at a class's property is checked at run time.
struct StreamMeter {
    let from: Int
    private(set) var mouthToEar = SpreadMeter()
    private(set) var depth = SpreadMeter()
    private(set) var target = SpreadMeter()
    private(set) var series = SeriesMeter()
    /// Runs of blocks in which something was made up, left out or added.
    private(set) var glitches = 0
    /// Second of the call at which measuring began.
    private(set) var began: Double?
    /// The statistics at the start of the measurement.
    private(set) var before = PlayoutStatistics()
    /// AAC's late units by then.
    private(set) var lateUnitsBefore = 0
    /// The present counts.
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

    /// Something else was agreed on: another playout counts from its beginning.
    mutating func follow() {
        restarts = -1
        before = PlayoutStatistics()
        faults = 0
    }

    /// Begins measuring with the next block; earlier counts are left out.
    mutating func begin(at elapsed: Double, _ statistics: PlayoutStatistics, lateUnits: Int) {
        began = elapsed
        lateUnitsBefore = lateUnits
        before = statistics
        latest = statistics
        faults = Self.faults(statistics)
    }

    /// Looks at a block that was just rendered.
    /// - Parameters:
    ///   - receiver: who heard it.
    ///   - outputTime: when the block's first frame passes the loudspeaker's converter.
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

    /// Frames between the place that the receiver calls 0 and the sender's: both know the RTP timestamp of theirs.
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
