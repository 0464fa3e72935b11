// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// The render side of playout: passes packets and blocks between intake, restart detection, reader and steering.
struct PlayoutState: ~Copyable {
    private(set) var statistics = PlayoutStatistics()

    private let configuration: PlayoutConfiguration
    private let sharedProfile: SharedLatencyProfile
    private var intake: PacketIntake
    private var restarts = RestartDetector()
    private var reader: StreamReader
    private var steering: DelaySteering
    private var isStarted = false
    private var expectedSampleTime: Int64 = .min
    private var forecastTime: Int64 = .min  // the sample time of the last forecast

    init(
        configuration: PlayoutConfiguration, queue: PacketQueue.Storage, decoder: RenderDecoder.Handle,
        fallback: RenderDecoder.Handle?, latencyProfile: SharedLatencyProfile
    ) {
        self.configuration = configuration
        sharedProfile = latencyProfile
        intake = PacketIntake(configuration, queue: queue)
        reader = StreamReader(
            configuration, decoder: PayloadDecoder(configuration, main: decoder, fallback: fallback))
        steering = DelaySteering(configuration)
    }

    /// Renders one block; silence before the first packet.
    @_noLocks
    mutating func pull(_ output: Channels, frameCount wanted: Int, sampleTime: Int64, hostTime: HostTime) {
        let frameCount = min(wanted, configuration.maximumFrameCount)
        let now = Double(sampleTime) / configuration.deviceRate
        steering.follow(sharedProfile)
        followDevice(sampleTime, frameCount)
        while let slot = intake.arrivedSlot(by: hostTime) {
            receive(slot, now: now, hostTime: hostTime, frameCount: frameCount)
            intake.removeFirstSlot()
        }
        guard isStarted else {
            for c in 0..<configuration.channelCount { clearSamples(output[c], frameCount) }
            return
        }
        steering.steer(now: now, sampleTime: sampleTime, frameCount: frameCount, &reader, &statistics)
        statistics.framesPerPacket = reader.decoder.framesPerPacket
        statistics.position = steering.position(cursor: reader.cursor)
        intake.publish(statistics, drift: steering.tracker.drift)
        steering.render(output, frameCount: frameCount, &reader, &intake, &statistics)
    }

    /// Skips as much of the stream as the device has skipped: the gap has happened already, and the delay stays.
    @_noLocks
    private mutating func followDevice(_ sampleTime: Int64, _ frameCount: Int) {
        let skipped = sampleTime &- expectedSampleTime
        if isStarted, skipped > 0, skipped < Int64(2 * configuration.deviceRate) {
            reader.skip(Int(Double(skipped) * steering.resampler.step), &statistics)
        }
        expectedSampleTime = sampleTime &+ Int64(frameCount)
    }

    /// Stores a packet and learns from its arrival. A packet that this call finds is in time for it, however late the call began:
    /// a machine that stalls delays packets and callbacks alike, and needs no longer buffer for it.
    @_noLocks
    private mutating func receive(_ slot: Int, now: Double, hostTime: HostTime, frameCount: Int) {
        let header = intake.header(inSlot: slot)
        let arrival = now + min(0, header.arrival.seconds(since: hostTime))
        // The offset refers to the packet's end, after which a packet is sent; its earlier frames have waited longer.
        let end = header.position &+ header.frameCount
        let offset = arrival - Double(end) / configuration.streamRate
        if header.isRecovered {
            guard isStarted else { return }
            if !header.wasRequested { steering.addRecovered(offset: offset, at: arrival) }
            return intake.insertRecovered(header, slot: slot, &statistics)
        }
        steering.noteTime(arrival)
        statistics.packets &+= 1
        if isStarted, isRestart(header, offset: offset, at: arrival) {
            statistics.restarts &+= 1
            intake.removeAll()
            steering.reset()
            reader.reset()
            isStarted = false
        }
        steering.add(header, offset: offset, at: arrival)
        if !isStarted { start(at: header, arrival: arrival, now: now, frameCount: frameCount) }
        if header.sequence < intake.nextSequence {
            statistics.latePackets &+= 1
        } else {
            learnRedundancy(slot, header, at: arrival)
            intake.insert(header, slot: slot, &statistics)
        }
    }

    @_noLocks
    private mutating func isRestart(_ header: PacketHeader, offset: Double, at arrival: Double) -> Bool {
        restarts.isRestart(
            header, isForeign: steering.tracker.isForeign(offset, at: arrival), nextSequence: intake.nextSequence,
            framesPerPacket: reader.decoder.framesPerPacket, at: arrival)
    }

    @_noLocks
    private mutating func start(at header: PacketHeader, arrival: Double, now: Double, frameCount: Int) {
        isStarted = true
        intake.start(at: header)
        restarts.start(at: header)
        reader.start(at: steering.firstCursor(header, arrival: arrival, now: now, frameCount: frameCount))
    }

    /// Learns how late the next packet's copy of a missing packet is, if it carries one.
    @_noLocks
    private mutating func learnRedundancy(_ slot: Int, _ header: PacketHeader, at arrival: Double) {
        let isGap = header.sequence == restarts.newestSequence &+ 2
        restarts.note(header)
        guard isGap, reader.decoder.carriesPrevious(header, intake.payload(inSlot: slot)) else { return }
        steering.addRecovered(offset: arrival - Double(header.position) / configuration.streamRate, at: arrival)
    }

    /// The seconds concealed since the last received sound.
    var concealedTime: Double {
        @_noLocks get { Double(reader.concealedRunFrames) / configuration.streamRate }
    }

    /// The forecast of the observed delays.
    var forecast: PlayoutForecast { @_noLocks get { steering.tracker.forecast } }

    /// Returns true if the last forecast is a second old or there is none; then notes `sampleTime` as the last one's time.
    @_noLocks
    mutating func forecastIsDue(_ sampleTime: Int64) -> Bool {
        guard isStarted else { return false }
        let passed = sampleTime &- forecastTime
        guard forecastTime == .min || passed < 0 || Double(passed) >= configuration.deviceRate else { return false }
        forecastTime = sampleTime
        return true
    }
}
