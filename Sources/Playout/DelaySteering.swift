// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP

/// Learns the delay that the packets need and steers playout to it: at once while the stream is silent, slowly by the rate, and
/// faster by stretches that are repeated or removed.
///
/// All times are seconds of the receiving device's own frame counter, so that a device that drifts, or skips in an xrun, needs no
/// special case. A fixed depth is kept by the rate alone, by at most 0.9 cents once the network is known.
struct DelaySteering: ~Copyable {
    private(set) var tracker: DelayTracker
    var resampler: Resampler
    var scaler: TimeScaler
    var stretchPlan = StretchPlan()

    private let configuration: PlayoutConfiguration
    private let mayFollowBlocks: Bool  // packets are not decoded ahead, rates are equal, no fixed depth
    private var recovery = RecoveryTracker()
    private var grid = BlockGrid()
    private var last = (frames: 0, lookahead: 0, end: Int.min)  // of the newest packet
    private var isAtSeam = false  // a longer look-ahead needs more delay, from now on

    /// The seconds after a restart of the stream in which sound may be skipped to reach the target delay.
    private static var timeToSettle: Double { @_noLocks get { 0.1 } }
    /// The seconds until the estimates of drift and minimum delay are trusted.
    private static var learningTime: Double { @_noLocks get { 10 } }
    /// The excess delay in seconds above which playout jumps, as gradual correction would take too long.
    private static var jumpThreshold: Double { @_noLocks get { 0.120 } }
    /// The seconds of concealment after which a jump is inaudible.
    private static var longConcealment: Double { @_noLocks get { 0.1 } }
    /// The maximum excess delay in seconds that is too small for a jump during concealment.
    private static var leastJump: Double { @_noLocks get { 0.000_2 } }
    /// The seconds in which a small excess delay falls to about a third (1/e). With 0.2 s the delay would fall so soon after a
    /// late packet that the next one is late too: it costs no sound to wait.
    private static var timeConstant: Double { @_noLocks get { 2 } }
    /// The same seconds for a shortage. A slower rise would use up the margin while the target grows, and late packets would be
    /// gaps.
    private static var shortageTimeConstant: Double { @_noLocks get { 0.3 } }
    /// The shortage in seconds that the margin covers, so that the pitch does not follow each packet.
    private static var toleratedShortage: Double { @_noLocks get { 0.000_1 } }
    /// The seconds by which the delays of a wired network vary.
    private static var wiredJitter: Double { @_noLocks get { 0.002 } }
    // The following limits are shares of the playing speed. They were chosen, not measured;
    // docs/decisions/inaudible-delay-changes.md names the first two.

    /// The slowest speed: 0.5 %, or 8.6 cents, to correct a delay that is 10 ms too short: a change of pitch was considered
    /// better than gaps. A shortage of up to 4 ms takes no more than ``usualCorrection``.
    private static var slowestCorrection: Double { @_noLocks get { -0.005 } }
    /// The usual limit of the correction, in either direction: 0.2 %, or 3.5 cents. A millisecond takes half a second.
    private static var usualCorrection: Double { @_noLocks get { 0.002 } }
    /// The greatest correction of a fixed depth, in either direction, after ``learningTime``: 0.05 %, or 0.9 cents. A recording
    /// can wait, and its pitch should stay: a millisecond takes 2 s.
    private static var settledCorrection: Double { @_noLocks get { 0.000_5 } }

    init(_ configuration: PlayoutConfiguration) {
        self.configuration = configuration
        mayFollowBlocks =
            !configuration.coding.isDecodedAhead && configuration.fixedDepth == 0
            && configuration.streamRate == configuration.deviceRate
        tracker = DelayTracker(latencyProfile: configuration.latencyProfile)
        resampler = Resampler(
            from: configuration.streamRate, to: configuration.deviceRate, channelCount: configuration.channelCount,
            maximumFrameCount: configuration.maximumFrameCount)
        scaler = TimeScaler(
            sampleRate: configuration.streamRate, channelCount: configuration.channelCount,
            maximumFrameCount: Int(
                Double(configuration.maximumFrameCount) * configuration.streamRate / configuration.deviceRate * 1.1)
                + 256)
    }

    // MARK: Learning

    @_noLocks
    mutating func follow(_ profile: SharedLatencyProfile) {
        let position = profile.value
        guard position != tracker.latencyProfile.position else { return }
        tracker.set(LatencyProfile(valid: position))
    }

    /// Notes the arrival time of a packet that was not recovered.
    @_noLocks
    mutating func noteTime(_ now: Double) { recovery.add(at: now) }

    /// Learns from a packet that was not recovered.
    /// - Parameter offset: the packet's arrival minus its end on the stream's timeline, in seconds.
    @_noLocks
    mutating func add(_ header: PacketHeader, offset: Double, at arrival: Double) {
        followForm(of: header, offset: offset, at: arrival)
        if header.endsCongestion { tracker.forgetDelays() }
        tracker.add(
            offset: offset, at: arrival, duration: Double(header.frameCount) / configuration.streamRate)
        grid.addPacket(position: header.position, frameCount: header.frameCount, at: arrival)
    }

    /// Notes that packets of another form need more delay. The next block takes it at once, because the stream is concealed there
    /// anyway.
    @_noLocks
    private mutating func followForm(of header: PacketHeader, offset: Double, at arrival: Double) {
        let (frames, lookahead) = (last.frames, last.lookahead)
        guard header.position &+ header.frameCount > last.end else { return }
        last = (header.frameCount, header.lookahead, header.position &+ header.frameCount)
        guard frames > 0 else { return }
        guard header.lookahead > lookahead else { return }
        isAtSeam = true
        // A PCM packet is one block of the sender's card. A packet of another form waits for the end of a block: all packets for
        // less than the common divisor, and by multiples of it up to the block.
        let block = lookahead == 0 ? frames : 0
        let divisor = block > 0 ? BlockGrid.greatestCommonDivisor(block, header.frameCount) : 0
        let rate = configuration.streamRate
        tracker.shift(
            offset: offset, at: arrival, most: Double(header.lookahead &- lookahead &+ divisor) / rate,
            spread: Double(block &- divisor) / rate)
    }

    /// Learns the lateness of a recovered packet.
    /// - Parameter offset: the arrival of the packet's copy minus the packet's end on the stream's timeline, in seconds.
    @_noLocks
    mutating func addRecovered(offset: Double, at arrival: Double) { recovery.add(recovered: offset, at: arrival) }

    /// Forgets the delays of an ended stream.
    @_noLocks
    mutating func reset() {
        tracker.reset()
        recovery.reset()
        grid.reset()
        last = (0, 0, .min)
    }

    /// Returns the reader's first cursor, a frame of the stream, when the first packet has arrived.
    @_noLocks
    func firstCursor(_ header: PacketHeader, arrival: Double, now: Double, frameCount: Int) -> Int {
        let initialDelay = max(
            max(configuration.initialMargin, tracker.latencyProfile.ceiling / 16), longestDelay(of: header))
        let delay =
            arrival - Double(header.position) / configuration.streamRate + configuration.margin
            + (configuration.fixedDepth > 0 ? configuration.fixedDepth : initialDelay)
        return Int((now - delay) * configuration.streamRate) &- resampler.inputNeeded(for: frameCount) &+ scaler.lead
    }

    /// Returns the seconds by which packets of this length may be late, if the sender's block is known; 0 for packets that are
    /// blocks, or parts of one. The first packet may be the promptest, and it takes many packets to learn how long others wait.
    @_noLocks
    private func longestDelay(of header: PacketHeader) -> Double {
        let coding = header.isFallbackCodec ? configuration.fallback : configuration.coding
        let block = coding?.packetsAreBlocks == true ? 0 : configuration.senderBlock
        let wait = block > 0 ? block &- BlockGrid.greatestCommonDivisor(block, header.frameCount) : 0
        let seconds = Double(wait) / configuration.streamRate
        return wait > 0 ? min(tracker.latencyProfile.ceiling, seconds + Self.wiredJitter) : 0
    }

    // MARK: Steering

    /// Steers the delay for one block: sets the speed, jumps if necessary, and plans stretches.
    @_noLocks
    mutating func steer(
        now: Double, sampleTime: Int64, frameCount: Int, _ reader: inout StreamReader,
        _ statistics: inout PlayoutStatistics
    ) {
        grid.addBlock(sampleTime: sampleTime, frameCount: frameCount, at: now)
        let rate = configuration.streamRate
        let range = tracker.range(at: now)
        let recovered = recovery.offset(at: now, drift: tracker.drift) ?? range.wanted
        let fixed = configuration.fixedDepth
        let latest =
            fixed > 0 ? range.least + fixed : max(range.wanted, min(recovered, range.least + tracker.bound))
        let margin = tracker.latencyProfile.margin(tail: tracker.tail, most: configuration.margin)
        let wanted = latest + tracker.packetLength + margin
        let aim = aim(wanted, now: now, frameCount: frameCount, hasPlayed: reader.hasPlayed)
        var excess = offset(at: reader.cursor, now: now, frameCount: frameCount) - aim.offset
        if fixed > 0, !reader.hasPlayed {
            reader.moveUnheard(Int(excess * rate))
            excess = 0
        }
        let isConcealing = scaler.lead == 0 && reader.isConcealing
        let isLongConcealment = isConcealing && reader.concealedRunFrames > Int(Self.longConcealment * rate)
        // Just after a restart of the stream a listener does not notice that excess delay is skipped.
        let isSettlingAfterRestart = statistics.restarts > 0 && tracker.age(at: now) < Self.timeToSettle
        let exceedsJumpThreshold =
            fixed == 0 && excess > (isSettlingAfterRestart ? configuration.initialMargin : Self.jumpThreshold)
        let needsMore = isAtSeam && excess < 0 - Self.leastJump && fixed == 0
        isAtSeam = false
        if (isConcealing || needsMore) && excess < 0 || isLongConcealment && excess > Self.leastJump
            || exceedsJumpThreshold
        {
            reader.skip(Int(excess * rate) &- (excess < 0 ? 1 : 0), isSmooth: needsMore, &statistics)
            excess = 0
        }
        let isSettled = fixed > 0 && tracker.age(at: now) > Self.learningTime
        let correction = Self.correction(excess, isSettled: isSettled)
        resampler.step = rate / configuration.deviceRate * (1 - aim.slope) * (1 + correction)
        stretchPlan.update(
            excess: fixed == 0 ? excess : 0, age: tracker.age(at: now), hasPlayed: reader.hasPlayed,
            frameCount: frameCount, configuration)
        report(
            offset: offset(at: reader.cursor, now: now, frameCount: frameCount), frameCount: frameCount,
            least: range.least + tracker.packetLength, wanted: wanted, aim: aim.offset, &statistics)
    }

    /// Returns the share of the playing speed that corrects an excess delay in seconds: positive if that is too long.
    @_noLocks
    private static func correction(_ excess: Double, isSettled: Bool) -> Double {
        let slow = excess / timeConstant
        if isSettled { return max(0 - settledCorrection, min(settledCorrection, slow)) }
        let shortage = 0 - excess - toleratedShortage
        guard shortage > 0 else { return min(usualCorrection, slow) }
        return max(slowestCorrection, min(slow, 0 - min(usualCorrection, shortage / shortageTimeConstant)))
    }

    /// Returns the stream's frame at which the next block begins.
    @_noLocks
    func position(cursor: Int) -> Double { Double(cursor &- scaler.lead) - resampler.heldFrames }

    /// Returns the offset of a packet that ends with the last stream frame that the next `frameCount` output frames need. A
    /// packet with a smaller offset is in time, whatever the phase between packets and blocks.
    @_noLocks
    private func offset(at cursor: Int, now: Double, frameCount: Int) -> Double {
        let next = cursor &- scaler.lead
        return now - Double(next &+ resampler.inputNeeded(for: frameCount)) / configuration.streamRate
    }

    /// Returns the delay at which packets with offsets up to `wanted` are in time.
    @_noLocks
    private mutating func aim(_ wanted: Double, now: Double, frameCount: Int, hasPlayed: Bool) -> BlockGrid.Aim {
        guard mayFollowBlocks, tracker.latencyProfile.followsBlocks else {
            grid.release()
            return BlockGrid.Aim(offset: wanted, slope: 0 - tracker.drift)
        }
        return grid.aim(
            wanted: wanted, rate: configuration.streamRate, drift: tracker.drift, now: now,
            isKnown: hasPlayed && tracker.age(at: now) > Self.learningTime)
    }

    @_noLocks
    private func report(
        offset: Double, frameCount: Int, least: Double, wanted: Double, aim: Double,
        _ statistics: inout PlayoutStatistics
    ) {
        let needed = Double(resampler.inputNeeded(for: frameCount)) + resampler.heldFrames
        statistics.isStarted = true
        statistics.depth = wanted - least + (offset - aim)
        statistics.targetDepth = wanted - least
        statistics.depthLimit = tracker.bound
        statistics.delay = offset - least + needed / configuration.streamRate
        statistics.driftPPM = tracker.drift * 1e6
    }
}
