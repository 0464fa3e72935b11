import AudioBase
import AudioCodecs
import AudioDSP

/// How the delay is brought to where it should be.
extension PlayoutState {
    /// Takes the dial as it is now.
    @_noLocks
    mutating func followDial() {
        let position = sharedDial.value
        guard position != tracker.dial.position else { return }
        tracker.set(PlayoutDial(valid: position))
    }

    /// The stream's frame that `frameCount` output frames from now reach, on the scale of packet offsets: a packet
    /// whose offset is smaller is in time, whatever the phase between packets and blocks.
    @_noLocks
    private func playoutOffset(now: Double, frameCount: Int) -> Double {
        let next = cursor &- scaler.lead
        return now - Double(next &+ resampler.inputNeeded(for: frameCount)) / configuration.streamRate
    }

    /// Brings the delay to where it should be: at once while nothing is heard of it, a little by the rate, and more by
    /// stretches that are repeated or left out. A fixed depth is followed by the rate alone, by 0.9 cents at most
    /// once it is known.
    @_noLocks
    mutating func steer(now: Double, frameCount: Int) {
        let rate = configuration.streamRate
        let range = tracker.range(at: now)
        let recovered = recovery.offset(at: now, drift: tracker.drift) ?? range.wanted
        let fixed = configuration.fixedDepth
        let latest =
            fixed > 0 ? range.least + fixed : max(range.wanted, min(recovered, range.least + tracker.bound))
        let margin = tracker.dial.margin(tail: tracker.tail, most: configuration.margin)
        let wanted = latest + tracker.packetLength + margin
        let aim = aim(wanted, now: now, frameCount: frameCount)
        var excess = playoutOffset(now: now, frameCount: frameCount) - aim.offset
        if fixed > 0, !sounded {  // until the first packet is played nothing is heard of it
            cursor = cursor &+ Int(excess * rate)
            excess = 0
        }
        let isMadeUp = scaler.lead == 0 && (concealer.isActive || stageIsConcealment)
        let isGone = isMadeUp && madeUpFrames > Int(0.1 * rate)
        // Sound that has just begun again, after a gap, loses what it holds too much before it is missed.
        let isBack = statistics.restarts > 0 && tracker.age(at: now) < Self.timeToSettle
        let isTooMuch = fixed == 0 && excess > (isBack ? configuration.initialMargin : Self.farTooMuch)
        if isMadeUp && excess < 0 || isGone && excess > 0.0002 || isTooMuch {
            skip(Int(excess * rate) &- (excess < 0 ? 1 : 0))
            excess = 0
        }
        let isSettled = fixed > 0 && tracker.age(at: now) > Self.acquaintance
        let (slowest, fastest) = isSettled ? (-0.0005, 0.0005) : (-0.005, 0.002)
        let correction = max(slowest, min(fastest, excess / Self.timeConstant))
        resampler.step = rate / configuration.deviceRate * (1 - aim.slope) * (1 + correction)
        plan(excess: fixed == 0 ? excess : 0, now: now, frameCount: frameCount)
        report(
            now: now, frameCount: frameCount, least: range.least + tracker.packetLength, wanted: wanted,
            aim: aim.offset)
    }

    /// Seconds after a new beginning in which the delay is found, whatever is left out for it.
    private static var timeToSettle: Double { @_noLocks get { 0.1 } }

    /// Where the delay should be for packets up to `wanted` to be in time.
    @_noLocks
    private mutating func aim(_ wanted: Double, now: Double, frameCount: Int) -> BlockGrid.Aim {
        guard mayFollowBlocks, tracker.dial.followsBlocks else {
            grid.release()
            return BlockGrid.Aim(offset: wanted, slope: 0 - tracker.drift)
        }
        return grid.aim(
            wanted: wanted, rate: configuration.streamRate, drift: tracker.drift, now: now,
            isKnown: sounded && tracker.age(at: now) > Self.acquaintance)
    }

    /// Seconds after which the drift, and the least delay of the way, are known well enough.
    private static var acquaintance: Double { @_noLocks get { 10 } }

    /// Excess delay, in seconds, that is left out at once, as it would take long otherwise.
    private static var farTooMuch: Double { @_noLocks get { 0.120 } }
    /// Seconds in which a small excess falls to a third.
    private static var timeConstant: Double { @_noLocks get { 2 } }
    /// Correlation of a stretch with what it stands for that only voices, single notes and the like have.
    private static var voiced: Float { @_noLocks get { 0.85 } }

    /// Decides whether a stretch should be left out or repeated.
    ///
    /// What is alike from period to period is stretched as soon as the delay is some milliseconds off. Other sound,
    /// such as music, is left to the rate; where that would take longer than a listener has, after 0.3 s, the best
    /// joint there is must do.
    @_noLocks
    private mutating func plan(excess: Double, now: Double, frameCount: Int) {
        let rate = configuration.streamRate
        sinceStretch &+= frameCount
        stretchLimit = 0
        let isLong = excess > (tracker.age(at: now) > 2 ? 0.004 : 0.020)
        guard isLong || excess < -0.0025, sounded else {
            unmet = 0
            return
        }
        unmet += Double(frameCount) / configuration.deviceRate
        let isLarge = excess > 0.010 || excess < -0.005
        if isLarge, unmet > 0.3 { isUrgent = true }
        if !isLarge { isUrgent = false }
        let pause = excess > 0.030 || isUrgent ? 0.020 : 0.030
        guard Double(sinceStretch) >= pause * configuration.deviceRate else { return }
        stretchLimit = Int(excess * rate)
    }

    /// Gives the resampler its next frames, a stretch more or less if that was planned.
    @_noLocks
    mutating func feed(_ needed: Int) {
        scaler.reserve(needed &+ scaler.longest &+ scaler.fade)
        decode(until: needed)
        if stretchLimit != 0, !concealer.isActive, !stageIsConcealment {
            stretch(needed)
            decode(until: needed)
        }
        scaler.read(resampler.input, offset: resampler.inputOffset, frameCount: needed)
    }

    @_noLocks
    private mutating func decode(until wanted: Int) {
        let count = wanted &- scaler.lead
        guard count > 0 else { return }
        fill(scaler.channels, offset: scaler.end, frameCount: count)
        scaler.append(count)
    }

    /// Leaves out or repeats a stretch, as soon as enough has been decoded ahead for the longest that is wanted.
    @_noLocks
    private mutating func stretch(_ needed: Int) {
        let isShorter = stretchLimit > 0
        let limit = min(isShorter ? stretchLimit : 0 &- stretchLimit, scaler.longest)
        let wanted = isShorter ? scaler.fade &+ limit : scaler.fade
        guard isShorter || scaler.lead <= needed &+ 2 &* scaler.longest else { return }
        if lookAhead(wanted, needed), scaler.lead < wanted { return }
        let likeness: Float = isUrgent ? -1 : Self.voiced
        let count =
            isShorter ? scaler.shorten(by: limit, likeness: likeness) : scaler.lengthen(by: limit, likeness: likeness)
        if count > 0 {
            statistics.stretchedFrames &+= count
            sinceStretch = 0
        } else if scaler.lead >= wanted {
            sinceStretch = sinceStretch / 2  // nothing is alike here: another place may be better
        }
    }

    /// Decodes ahead of need, and only what has come; in one block no more than a packet beyond what a block takes.
    /// - Returns: whether there was any.
    @_noLocks
    private mutating func lookAhead(_ wanted: Int, _ needed: Int) -> Bool {
        let before = scaler.lead
        while scaler.lead < wanted, scaler.lead &- before <= needed {
            var there = 0
            if staged > 0 {
                if !stageIsConcealment, stagePosition <= cursor { there = staged &- (cursor &- stagePosition) }
            } else if let header = buffer.header(of: nextSequence), header.position <= cursor {
                there = header.position &+ header.frameCount &- cursor
            }
            guard there > 0 else { break }
            decode(until: min(wanted, scaler.lead &+ there))
        }
        return scaler.lead > before
    }

    @_noLocks
    private mutating func report(now: Double, frameCount: Int, least: Double, wanted: Double, aim: Double) {
        let offset = playoutOffset(now: now, frameCount: frameCount)
        let needed = Double(resampler.inputNeeded(for: frameCount)) + resampler.heldFrames
        statistics.isStarted = true
        statistics.framesPerPacket = framesPerPacket
        statistics.depth = wanted - least + (offset - aim)
        statistics.targetDepth = wanted - least
        statistics.depthLimit = tracker.bound
        queue.publish(hold: statistics.depth, limit: statistics.depthLimit, drift: tracker.drift)
        statistics.delay = offset - least + needed / configuration.streamRate
        statistics.driftPPM = tracker.drift * 1e6
    }

    /// Moves the timeline: forwards (frames are left out) or back (frames are made up), blended either way.
    @_noLocks
    mutating func skip(_ frames: Int) {
        concealer.begin()
        cursor = cursor &+ frames
        statistics.skips &+= 1
        noteGlitch()
        if frames > 0 { statistics.droppedFrames &+= frames } else { statistics.insertedFrames &-= frames }
    }

    /// Counts what is heard once, however long it lasts.
    @_noLocks
    mutating func noteGlitch() {
        if !isGlitching { statistics.glitches &+= 1 }
        isGlitching = true
    }
}
