import AudioBase
import AudioCodecs
import AudioDSP

/// The render side of playout: everything the callback touches, in one place that no other thread sees.
///
/// `cursor` is the stream's frame that goes into the resampler next. All times are seconds of the receiving device's own
/// frame counter, so that a device which drifts, or skips in an xrun, needs no case of its own.
struct PlayoutState: ~Copyable {
    let configuration: PlayoutConfiguration
    let queue: PacketQueue.Storage
    let opus: OpusDecoder.Renderer?
    let opusCustom: OpusCustomDecoder.Renderer?
    var buffer: JitterBuffer
    var resampler: Resampler
    var concealer: Concealer
    var tracker = DelayTracker()
    var statistics = PlayoutStatistics()

    var cursor = 0
    var nextSequence = 0
    var started = false
    var framesPerPacket: Int  // of the packet played last
    var sounded = false  // whether any packet was played since the start
    var expectedSampleTime: Int64 = .min

    /// The packet that is being played, decoded: `staged` frames from `stageOffset` on, the first at `stagePosition`.
    let stage: Channels
    let stageOwner: AudioBuffer
    let stageCapacity: Int
    var stageOffset = 0
    var staged = 0
    var stagePosition = 0
    var stageIsConcealment = false
    var customEnd = -1  // where the sound ends that the decoder of Opus Custom has followed
    var bridgedFrames = 0  // made up by Opus since the last packet that came

    init(
        configuration: PlayoutConfiguration, queue: PacketQueue.Storage, opus: OpusDecoder.Renderer?,
        opusCustom: OpusCustomDecoder.Renderer?
    ) {
        self.configuration = configuration
        self.queue = queue
        self.opus = opus
        self.opusCustom = opusCustom
        framesPerPacket = configuration.framesPerPacket
        buffer = JitterBuffer(capacity: 512, payloadCapacity: queue.payloadCapacity)
        resampler = Resampler(
            from: configuration.streamRate, to: configuration.deviceRate, channelCount: configuration.channelCount,
            maximumFrameCount: configuration.maximumFrameCount)
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
        followDevice(sampleTime, frameCount)
        while let slot = queue.first {
            take(slot, now: now, hostTime: hostTime, frameCount: frameCount)
            queue.removeFirst()
        }
        guard started else {
            for c in 0..<configuration.channelCount { clearSamples(output[c], frameCount) }
            return
        }
        steer(now: now, frameCount: frameCount)
        let needed = resampler.inputNeeded(for: frameCount)
        fill(resampler.input, offset: resampler.inputOffset, frameCount: needed)
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

    /// Stores a packet and learns from when it came. What this call finds has come in time for it, however late the call
    /// itself began: a machine that stalls holds up packets and callbacks alike, and needs no longer buffer for it.
    @_noLocks
    private mutating func take(_ slot: Int, now: Double, hostTime: HostTime, frameCount: Int) {
        let header = queue.headers[slot]
        let arrival = now + min(0, header.arrival.seconds(since: hostTime))
        let offset = arrival - Double(header.position) / configuration.streamRate
        statistics.packets &+= 1
        if started, header.startsStream || tracker.isForeign(offset) {
            statistics.restarts &+= 1
            concealer.begin()
            forget()
        }
        tracker.add(offset: offset, at: arrival)
        if !started { start(at: header, offset: offset, now: now, frameCount: frameCount) }
        if header.sequence < nextSequence {
            statistics.latePackets &+= 1
        } else {
            if header.sequence >= nextSequence &+ buffer.capacity {  // an outage longer than the buffer
                statistics.missingPackets &+= header.sequence &- nextSequence
                nextSequence = header.sequence
                buffer.removeAll()
            }
            buffer.insert(header, payload: queue.payloads + slot &* queue.payloadCapacity)
        }
    }

    @_noLocks
    private mutating func start(at header: PacketHeader, offset: Double, now: Double, frameCount: Int) {
        started = true
        nextSequence = header.sequence
        let delay = offset + configuration.margin + configuration.initialMargin
        cursor = Int((now - delay) * configuration.streamRate) &- resampler.inputNeeded(for: frameCount)
    }

    @_noLocks
    private mutating func forget() {
        buffer.removeAll()
        tracker.reset()
        opus?.reset()
        opusCustom?.reset()
        staged = 0
        started = false
        sounded = false
        customEnd = -1
    }

    /// The stream's frame that `frameCount` output frames from now reach, on the scale of packet offsets: a packet whose
    /// offset is smaller is in time, whatever the phase between packets and blocks.
    @_noLocks
    private func playoutOffset(now: Double, frameCount: Int) -> Double {
        now - Double(cursor &+ resampler.inputNeeded(for: frameCount)) / configuration.streamRate
    }

    /// Brings the delay to where it should be: by the rate, by a step while nothing is heard of it, or by a skip.
    @_noLocks
    private mutating func steer(now: Double, frameCount: Int) {
        let rate = configuration.streamRate
        let range = tracker.range(at: now)
        let wanted = min(range.most, range.least + configuration.ceiling) + configuration.margin
        var excess = playoutOffset(now: now, frameCount: frameCount) - wanted
        if excess < 0, concealer.isActive || stageIsConcealment {
            skip(-Int(-excess * rate) &- 1)
            excess = 0
        } else if excess > Self.skipThreshold {
            skip(Int(excess * rate))
            excess = 0
        }
        let correction = max(-0.005, min(0.002, excess / Self.timeConstant))
        resampler.step = rate / configuration.deviceRate * (1 + tracker.drift) * (1 + correction)
        report(now: now, frameCount: frameCount, least: range.least, wanted: wanted)
    }

    /// Excess delay, in seconds, above which frames are left out rather than played faster.
    private static var skipThreshold: Double { @_noLocks get { 0.030 } }
    /// Seconds in which a small excess falls to a third.
    private static var timeConstant: Double { @_noLocks get { 2 } }

    @_noLocks
    private mutating func report(now: Double, frameCount: Int, least: Double, wanted: Double) {
        let offset = playoutOffset(now: now, frameCount: frameCount)
        let needed = Double(resampler.inputNeeded(for: frameCount)) + resampler.heldFrames
        statistics.isStarted = true
        statistics.framesPerPacket = framesPerPacket
        statistics.depth = offset - least
        statistics.targetDepth = wanted - least
        statistics.delay = statistics.depth + needed / configuration.streamRate
        statistics.driftPPM = tracker.drift * 1e6
    }

    /// Moves the timeline: forwards (frames are left out) or back (frames are made up), blended either way.
    @_noLocks
    private mutating func skip(_ frames: Int) {
        concealer.begin()
        cursor = cursor &+ frames
        statistics.skips &+= 1
        if frames > 0 { statistics.droppedFrames &+= frames } else { statistics.insertedFrames &-= frames }
    }
}
