import AudioBase
import AudioCodecs
import AudioDSP

/// The render side of playout: everything the callback touches, in one place that no other thread sees.
///
/// `cursor` is the stream's frame that goes into the time-scaler next. All times are seconds of the receiving device's
/// own frame counter, so that a device which drifts, or skips in an xrun, needs no case of its own.
struct PlayoutState: ~Copyable {
    let configuration: PlayoutConfiguration
    let queue: PacketQueue.Storage
    let opus: OpusDecoder.Renderer?
    let opusCustom: OpusCustomDecoder.Renderer?
    var buffer: JitterBuffer
    var resampler: Resampler
    var concealer: Concealer
    var scaler: TimeScaler
    var tracker: DelayTracker
    var recovery = RecoveryTracker()
    var grid = BlockGrid()
    let mayFollowBlocks: Bool  // where the places of packets and blocks are known, and the delay is not given
    var statistics = PlayoutStatistics()

    var cursor = 0
    var nextSequence = 0
    private var newestSequence = 0  // of those that came by themselves
    private var newestPosition = 0
    var started = false
    var framesPerPacket: Int  // of the packet played last
    var sounded = false  // whether any packet was played since the start
    var expectedSampleTime: Int64 = .min
    private var forecastTime: Int64 = .min  // when the last was published

    // Steering.
    let sharedDial: SharedDial
    var stretchLimit = 0  // frames to leave out at most, negative: to repeat
    var sinceStretch = 0  // device frames since the last
    var unmet = 0.0  // seconds for which a stretch was wanted
    var isUrgent = false  // whether any joint will do
    var isGlitching = false
    var madeUpFrames = 0  // since the last packet that came was played

    // Packets that are all older than what is played.
    private var behindCount = 0
    private var behindSince = 0.0

    /// The packet that is being played, decoded: `staged` frames from `stageOffset` on, the first at `stagePosition`.
    let stage: Channels
    let stageOwner: AudioBuffer
    let stageCapacity: Int
    var stageOffset = 0
    var staged = 0
    var stagePosition = 0
    var stageIsConcealment = false
    var isInOpus: Bool  // whether the packet played last was Opus
    var customEnd = -1  // where the sound ends that the decoder of Opus Custom has followed
    var bridgedFrames = 0  // made up by Opus since the last packet that came

    init(
        configuration: PlayoutConfiguration, queue: PacketQueue.Storage, opus: OpusDecoder.Renderer?,
        opusCustom: OpusCustomDecoder.Renderer?, dial: SharedDial
    ) {
        self.configuration = configuration
        self.queue = queue
        self.opus = opus
        self.opusCustom = opusCustom
        framesPerPacket = configuration.framesPerPacket
        isInOpus = configuration.coding == .opus
        mayFollowBlocks =
            configuration.coding != .decoded && configuration.fixedDepth == 0
            && configuration.streamRate == configuration.deviceRate
        sharedDial = dial
        tracker = DelayTracker(dial: configuration.dial)
        buffer = JitterBuffer(capacity: 2 * configuration.packetCapacity, payloadCapacity: queue.payloadCapacity)
        resampler = Resampler(
            from: configuration.streamRate, to: configuration.deviceRate, channelCount: configuration.channelCount,
            maximumFrameCount: configuration.maximumFrameCount)
        scaler = TimeScaler(
            sampleRate: configuration.streamRate, channelCount: configuration.channelCount,
            maximumFrameCount: Int(
                Double(configuration.maximumFrameCount) * configuration.streamRate / configuration.deviceRate * 1.1)
                + 256)
        concealer = Concealer(channelCount: configuration.channelCount, sampleRate: configuration.streamRate)
        stageCapacity = OpusDecoder.maximumFrameCount
        stageOwner = AudioBuffer(channelCount: configuration.channelCount, frameCapacity: stageCapacity)
        stage = stageOwner.channels
    }

    /// Renders one block; silence until the first packet has come.
    @_noLocks
    mutating func pull(_ output: Channels, frameCount wanted: Int, sampleTime: Int64, hostTime: HostTime) {
        let frameCount = min(wanted, configuration.maximumFrameCount)
        let now = Double(sampleTime) / configuration.deviceRate
        followDial()
        followDevice(sampleTime, frameCount)
        while let slot = queue.first, hasCome(slot, by: hostTime) {
            take(slot, now: now, hostTime: hostTime, frameCount: frameCount)
            queue.removeFirst()
        }
        guard started else {
            for c in 0..<configuration.channelCount { clearSamples(output[c], frameCount) }
            return
        }
        grid.addBlock(sampleTime: sampleTime, frameCount: frameCount, at: now)
        steer(now: now, frameCount: frameCount)
        statistics.position = Double(cursor &- scaler.lead) - resampler.heldFrames
        let needed = resampler.inputNeeded(for: frameCount)
        feed(needed)
        resampler.render(output, frameCount: frameCount, adding: needed)
    }

    /// A device that skipped frames has made a gap already; moving on by as much keeps the delay as it was.
    @_noLocks
    private mutating func followDevice(_ sampleTime: Int64, _ frameCount: Int) {
        let skipped = sampleTime &- expectedSampleTime
        if started, skipped > 0, skipped < Int64(2 * configuration.deviceRate) {
            skip(Int(Double(skipped) * resampler.step))
        }
        expectedSampleTime = sampleTime &+ Int64(frameCount)
    }

    /// Whether the packet had come when the cycle began. Who pulls in time finds no other.
    @_noLocks
    private func hasCome(_ slot: Int, by cycle: HostTime) -> Bool {
        !configuration.isPulledLater || queue.headers[slot].arrival.nanoseconds <= cycle.nanoseconds
    }

    /// Stores a packet and learns from when it came. What this call finds has come in time for it, however late the
    /// call itself began: a machine that stalls holds up packets and callbacks alike, and needs no longer buffer for
    /// it.
    @_noLocks
    private mutating func take(_ slot: Int, now: Double, hostTime: HostTime, frameCount: Int) {
        let header = queue.headers[slot]
        let arrival = now + min(0, header.arrival.seconds(since: hostTime))
        // When a packet comes depends on its end, which must have been said; the frames before it wait the longer for
        // that.
        let end = header.position &+ header.frameCount
        let offset = arrival - Double(end) / configuration.streamRate
        if header.isRecovered {
            if started { takeRecovered(slot, header, offset: offset, at: arrival) }
            return
        }
        recovery.add(at: arrival)
        statistics.packets &+= 1
        let isForeign = tracker.isForeign(offset, at: arrival) && !isOverdue(header)
        if started, header.startsStream || isForeign || isBehind(header, at: arrival) {
            statistics.restarts &+= 1
            concealer.begin()
            forget()
        }
        if header.endsCongestion { tracker.forgetDelays() }
        tracker.add(offset: offset, at: arrival, duration: Double(header.frameCount) / configuration.streamRate)
        grid.addPacket(position: header.position, frameCount: header.frameCount, at: arrival)
        if !started { start(at: header, arrival: arrival, now: now, frameCount: frameCount) }
        if header.sequence < nextSequence {
            statistics.latePackets &+= 1
        } else {
            learnRedundancy(slot, header, at: arrival)
            if header.sequence >= nextSequence &+ buffer.capacity {  // an outage longer than the buffer
                statistics.missingPackets &+= header.sequence &- nextSequence
                nextSequence = header.sequence
                buffer.removeAll()
            }
            buffer.insert(header, payload: queue.payloads + slot &* queue.payloadCapacity)
        }
    }

    /// Keeps the number and the place of the newest packet.
    @_noLocks
    private mutating func noteNewest(_ header: PacketHeader) {
        guard header.sequence > newestSequence else { return }
        (newestSequence, newestPosition) = (header.sequence, header.position)
    }

    /// Whether a packet is one of this stream's that others have overtaken, however late it is: as many places behind the newest as
    /// its number says, within a factor of two, as packets may be of any length. A sender that begins anew there is told by
    /// what follows.
    @_noLocks
    private func isOverdue(_ header: PacketHeader) -> Bool {
        let behind = newestSequence &- header.sequence
        let frames = newestPosition &- header.position
        let usual = behind &* framesPerPacket
        return behind > 0 && frames >= usual / 2 && frames <= 2 &* usual
    }

    /// Waits for what Opus packets carry of the one before, as for copies, where that one did not come.
    @_noLocks
    private mutating func learnRedundancy(_ slot: Int, _ header: PacketHeader, at arrival: Double) {
        let isGap = header.sequence == newestSequence &+ 2
        noteNewest(header)
        guard isGap, let opus, isOpus(header) else { return }
        let payload = (queue.payloads + slot &* queue.payloadCapacity).assumingMemoryBound(to: UInt8.self)
        guard opus.carriesEarlier(payload, byteCount: header.byteCount) else { return }
        recovery.add(recovered: arrival - Double(header.position) / configuration.streamRate, at: arrival)
    }

    /// Stores a packet that came by another, or once more: it may fill a hole, and says nothing of the way.
    @_noLocks
    private mutating func takeRecovered(_ slot: Int, _ header: PacketHeader, offset: Double, at arrival: Double) {
        if !header.wasAskedFor { recovery.add(recovered: offset, at: arrival) }
        guard header.sequence >= nextSequence, header.sequence < nextSequence &+ buffer.capacity,
            buffer.header(of: header.sequence) == nil
        else { return }
        statistics.recoveredPackets &+= 1
        if header.wasAskedFor { statistics.requestedPackets &+= 1 }
        buffer.insert(header, payload: queue.payloads + slot &* queue.payloadCapacity)
    }

    /// Whether packets have all been older than what is played, for half a second and more: a sender that counts anew
    /// from a little below, or one packet with a number far too large.
    @_noLocks
    private mutating func isBehind(_ header: PacketHeader, at now: Double) -> Bool {
        guard header.sequence < nextSequence else {
            behindCount = 0
            return false
        }
        if behindCount == 0 { behindSince = now }
        behindCount &+= 1
        return behindCount > 8 && now - behindSince > 0.5
    }

    @_noLocks
    private mutating func start(at header: PacketHeader, arrival: Double, now: Double, frameCount: Int) {
        started = true
        nextSequence = header.sequence
        (newestSequence, newestPosition) = (header.sequence, header.position)
        let inHand = max(configuration.initialMargin, tracker.dial.ceiling / 16)
        let delay =
            arrival - Double(header.position) / configuration.streamRate + configuration.margin
            + (configuration.fixedDepth > 0 ? configuration.fixedDepth : inHand)
        cursor =
            Int((now - delay) * configuration.streamRate) &- resampler.inputNeeded(for: frameCount) &+ scaler.lead
        madeUpFrames = 0
    }

    @_noLocks
    private mutating func forget() {
        buffer.removeAll()
        tracker.reset()
        recovery.reset()
        grid.reset()
        opus?.reset()
        opusCustom?.reset()
        behindCount = 0
        staged = 0
        started = false
        sounded = false
        customEnd = -1
    }

    /// Whether a second has passed since a forecast was due last.
    @_noLocks
    mutating func forecastIsDue(_ sampleTime: Int64) -> Bool {
        guard started else { return false }
        let passed = sampleTime &- forecastTime
        guard forecastTime == .min || passed < 0 || Double(passed) >= configuration.deviceRate else { return false }
        forecastTime = sampleTime
        return true
    }
}
