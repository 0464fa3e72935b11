import AudioBase
import AudioCodecs
import AudioDevices
import CRealtime
import MediaTransport
import Playout

/// A call between two peers: a device, a socket, and all that lies between them.
///
/// Made, started and stopped on the control thread. ``start()`` begins to send and play at once; the far side's packets
/// play from when they come.
public final class CallSession: Sendable {
    /// What both sides agreed on.
    public let configuration: CallConfiguration
    /// The sound card the call runs on.
    public let device: any AudioDevice
    /// What one's own voice goes through; nil where it goes out as it is.
    public let voice: CallVoice?

    private let playout: Playout
    private let processor: CallProcessor
    private let wakeup: Wakeup
    private let media: MediaThread

    /// - Parameters:
    ///   - socket: bound, and connected to the far side's media address.
    ///   - cname: names this end in RTCP; no secret, and nothing about the person.
    ///   - voice: what one's own voice goes through; at the device's rate and the call's channels.
    /// - Throws: when a codec cannot be had in the agreed form.
    public init(
        _ configuration: CallConfiguration, device: any AudioDevice, socket: consuming UDPSocket, cname: String,
        voice: CallVoice? = nil
    ) throws(CodecError) {
        self.configuration = configuration
        self.device = device
        self.voice = voice
        wakeup = Wakeup()
        playout = try Playout(configuration.playout)
        processor = CallProcessor(
            channelCount: configuration.channelCount, deviceRate: configuration.deviceRate, wakeup: wakeup,
            voice: voice)
        _ = processor.mixer.add(playout)
        let session = RTPSession(
            ssrc: .random(in: 1 ... .max), cname: cname, payloadType: configuration.payloadType,
            clockRate: configuration.rtpClockRate, firstSequenceNumber: .random(in: 0...0x7FFF),  // see SRTPSession
            firstTimestamp: .random(in: 0 ... .max))
        var core = MediaCore(
            captured: processor.captured.reader, channelCount: configuration.channelCount,
            deviceRate: configuration.deviceRate, deviceBlock: configuration.deviceBlock)
        core.add(
            try MediaPeer(
                configuration, stream: try StreamEncoder(configuration), playout: playout, session: session),
            as: MediaThread.peer)
        media = MediaThread(core: core, socket: socket, wakeup: wakeup)
    }

    /// Starts the media thread and the device.
    public func start() throws(AudioDeviceError) {
        try media.start()
        voice?.start(on: device)
        do throws(AudioDeviceError) {
            try device.start(processor.callback)
            media.follow(device)
        } catch {
            voice?.stop()
            media.stop()
            throw error
        }
    }

    /// Schedules the media thread and voice processing just under the device's callback, as that is scheduled now: after a
    /// change of hardware.
    public func followDevice() {
        media.follow(device)
        voice?.follow(device)
    }

    /// Stops the device, says goodbye to the far side, ends the media thread. What was recorded is complete after it.
    public func stop() {
        device.stop()
        voice?.stop()
        media.stop()
    }

    /// How the call stands. For one thread, the control thread.
    public var statistics: CallStatistics {
        let outcome = media.outcome
        return CallStatistics(
            media: outcome.statistics, playout: playout.statistics, levels: processor.levels.load(),
            mouthToEar: estimateMouthToEar(outcome.statistics), failure: outcome.error)
    }

    /// The delay from the far side's microphone to this loudspeaker, as far as one end can know it: the far side's block
    /// and the codec, half a round trip, what playout holds, this device's output. Nil until both ways are known.
    private func estimateMouthToEar(_ media: MediaStatistics) -> Double? {
        let playout = playout.statistics
        guard playout.isStarted, let roundTrip = media.rtp.roundTrip else { return nil }
        return configuration.codecDelay(framesPerPacket: playout.framesPerPacket) + roundTrip / 2 + playout.delay
            + device.outputLatency
    }
}

/// How a call stands: what the wire, playout and the ears say.
public struct CallStatistics: Sendable {
    /// What went over the wire.
    public var media: MediaStatistics
    /// What was made of it.
    public var playout: PlayoutStatistics
    /// Loudness at both ends of this side.
    public var levels: CallLevels
    /// Seconds from the far side's microphone to this loudspeaker, estimated.
    public var mouthToEar: Double?
    /// Why the media thread ended by itself.
    public var failure: CodecError?
}

extension CallConfiguration {
    /// Opus's RTP clock is 48 kHz whatever it carries (RFC 7587 §4.1), and so is its stream here.
    var rtpClockRate: Int { Int(streamRate) }

    /// What playout must know of it.
    public var playout: PlayoutConfiguration {
        PlayoutConfiguration(
            coding: codec == .aac ? .decoded : codec == .opus ? .opus : .pcm, streamRate: streamRate,
            deviceRate: deviceRate,
            channelCount: channelCount, framesPerPacket: framesPerPacket)
    }

    /// Seconds that framing and the codec cost: a block or a frame must be full before it is coded, and what the coder
    /// looks ahead. AAC-LC takes three frames (frame, look-ahead, overlap); Opus its frame and 2.5 ms, 6.5 with 10 and 20 ms.
    /// - Parameter framesPerPacket: of the packets that come. PCM blocks above 1,200 bytes come in several; they count as one
    ///   of these, and so too little.
    public func codecDelay(framesPerPacket: Int) -> Double {
        switch codec {
        case .aac: 3 * 1024 / streamRate
        case .opus: (Double(framesPerPacket) + (framesPerPacket <= 240 ? 120 : 312)) / streamRate
        case .pcm: Double(framesPerPacket) / streamRate
        }
    }
}
