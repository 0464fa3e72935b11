import AudioBase
import AudioCodecs
import MediaTransport
import Playout

/// The media of one call without its socket, thread and clock: captured frames in, datagrams out; datagrams in, packets
/// for playout out. Time is an argument, so that a whole call runs in a test on virtual time.
public struct MediaCore: ~Copyable {
    private let configuration: CallConfiguration
    private let captured: AudioRing.Reader
    private let packets: PacketQueue
    private var encoder: StreamEncoder
    private var aac: AACReceiver?
    private var sender: PacketSender
    private var counts: MediaStatistics

    /// - Parameters:
    ///   - captured: what the device's callback records, at the device's rate and the stream's channel count.
    ///   - playout: takes what the far side sends.
    ///   - session: numbers and counts the packets.
    public init(
        _ configuration: CallConfiguration, captured: AudioRing.Reader, playout: Playout, session: RTPSession
    ) throws(CodecError) {
        aac =
            configuration.codec == .aac
            ? try AACReceiver(
                audioSpecificConfig: configuration.remoteAudioSpecificConfig, channelCount: configuration.channelCount)
            : nil
        encoder = try StreamEncoder(configuration)
        sender = PacketSender(session: session, isAAC: configuration.codec == .aac)
        counts = MediaStatistics(rtp: session.statistics)
        packets = playout.packets
        self.captured = captured
        self.configuration = configuration
    }

    /// Encodes and packetises what was captured since the last call.
    /// - Parameter transmit: gets each datagram; valid during the call.
    public mutating func sendCaptured(at now: HostTime, transmit: (UnsafeRawBufferPointer) -> Void) throws(CodecError) {
        try encoder.drain(captured, into: &sender, at: now, transmit: transmit)
    }

    /// Takes one datagram from the peer.
    public mutating func receive(_ datagram: UnsafeRawBufferPointer, at now: HostTime) {
        let received = sender.session.receive(datagram, at: now)
        if case .ignored = received {} else { counts.lastHeard = now }
        switch received {
        case .media(let media):
            counts.lastMedia = now
            if media.startsSource { aac?.restart() }
            deliver(media, UnsafeRawBufferPointer(rebasing: datagram[media.payload]), at: now)
        case .goodbye: counts.peerLeft = true
        case .report, .ignored: break
        }
    }

    /// Does what is due: a report to the far side, a frame that has waited long enough for the one before it.
    public mutating func tick(at now: HostTime, transmit: (UnsafeRawBufferPointer) -> Void) {
        aac?.tick(at: now, into: packets)
        if let due = sender.session.nextReportTime, due <= now { sender.report(at: now, transmit) }
    }

    /// Says goodbye.
    public mutating func leave(at now: HostTime, transmit: (UnsafeRawBufferPointer) -> Void) {
        sender.bye(at: now, transmit)
    }

    /// When ``tick(at:transmit:)`` has something to do next; nil when only a packet can change that.
    public var nextDeadline: HostTime? {
        guard let wait = aac?.deadline else { return sender.session.nextReportTime }
        guard let report = sender.session.nextReportTime else { return wait }
        return min(wait, report)
    }

    /// Frames that the device calls with at present; what is captured waits no longer than four of them.
    public var deviceBlock: Int {
        get { encoder.deviceBlock }
        set { encoder.deviceBlock = newValue }
    }

    /// Whether ``sendCaptured(at:transmit:)`` has something to do.
    public var hasCaptured: Bool { captured.heldFrames > 0 }

    /// What went over the wire, and what did not.
    public var statistics: MediaStatistics {
        var s = counts
        s.rtp = sender.session.statistics
        s.captureLostFrames = encoder.lostFrames
        s.corruptPackets += aac?.corruptUnits ?? 0
        s.lateUnits = aac?.lateUnits ?? 0
        s.rejectedPackets += aac?.rejectedUnits ?? 0
        return s
    }

    private mutating func deliver(_ media: ReceivedMedia, _ payload: UnsafeRawBufferPointer, at now: HostTime) {
        switch configuration.codec {
        case .aac:
            guard let units = try? AACPayload(parsing: payload) else { return counts.corruptPackets += 1 }
            for unit in units {
                aac?.receive(
                    UnsafeRawBufferPointer(rebasing: payload[unit.bytes]), position: media.position + unit.frameOffset,
                    at: now, into: packets)
            }
        case .opus:
            guard let opus = try? OpusPayload(parsing: payload) else { return counts.corruptPackets += 1 }
            push(media, payload, frames: opus.ticks, at: now)
        case .pcm:
            let frames = try? PCMPayload.frameCount(
                payloadSize: payload.count, channelCount: configuration.channelCount)
            guard let frames else { return counts.corruptPackets += 1 }
            push(media, payload, frames: frames, at: now)
        }
    }

    private mutating func push(
        _ media: ReceivedMedia, _ payload: UnsafeRawBufferPointer, frames: Int, at now: HostTime
    ) {
        // A packet that its source's very first overtook may count from below zero; it is late by any measure.
        guard media.sequenceNumber >= 0 else { return counts.rejectedPackets += 1 }
        let header = PacketHeader(
            sequence: media.sequenceNumber, position: media.position, frameCount: frames, byteCount: payload.count,
            arrival: now, startsStream: media.startsSource)
        if !packets.push(header, payload: payload) { counts.rejectedPackets += 1 }
    }
}

/// What went over the wire in a call, as the media thread counts it.
public struct MediaStatistics: Sendable {
    /// Packets, losses, jitter and round trip (RFC 3550).
    public var rtp: RTPStatistics
    /// When the last packet of sound came.
    public var lastMedia: HostTime?
    /// When anything of the far side's last came, a report too: it is there, though it may have no sound card just now.
    public var lastHeard: HostTime?
    /// Whether the far side has said goodbye.
    public var peerLeft = false
    /// Frames lost between the microphone and the encoder, because the media thread was held up.
    public var captureLostFrames = 0
    /// Packets that were not what was agreed on.
    public var corruptPackets = 0
    /// AAC frames that came after decoding had passed them.
    public var lateUnits = 0
    /// Packets that found the queue to playout full: the device had stopped calling.
    public var rejectedPackets = 0
    /// Datagrams the system did not take.
    public var sendFailures = 0
    /// Whether the far side's machine said that nobody listens at its port.
    public var isRefused = false

    /// Nothing has happened but what `rtp` counts.
    public init(rtp: RTPStatistics) { self.rtp = rtp }
}
