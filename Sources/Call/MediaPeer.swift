import AudioBase
import AudioCodecs
import MediaTransport
import Playout

/// One far side's media, without socket, thread and clock: payloads in, datagrams out; datagrams in, packets for its playout
/// out. Made on the control thread; the media thread's from ``MediaCore/add(_:as:)`` on.
final class MediaPeer {
    /// What was agreed on with it.
    let configuration: CallConfiguration
    /// What makes the payloads it is sent, and others that take the same; nil where it is sent nothing but reports.
    let stream: StreamEncoder?
    private let packets: PacketQueue?
    private var aac: AACReceiver?
    private var sender: PacketSender
    private var counts: MediaStatistics

    /// - Parameters:
    ///   - stream: of the configuration's form; nil where the far side does not want to be sent to.
    ///   - playout: takes what the far side sends; nil where that is nothing but reports.
    ///   - session: numbers and counts the packets.
    init(
        _ configuration: CallConfiguration, stream: StreamEncoder?, playout: Playout?, session: RTPSession
    ) throws(CodecError) {
        self.configuration = configuration
        self.stream = stream
        packets = playout?.packets
        aac =
            configuration.codec == .aac && playout != nil
            ? try AACReceiver(
                audioSpecificConfig: configuration.remoteAudioSpecificConfig, channelCount: configuration.channelCount)
            : nil
        sender = PacketSender(session: session, isAAC: configuration.codec == .aac)
        counts = MediaStatistics(rtp: session.statistics)
    }

    /// Takes the place of another of the same far side's: as the same source, which goes on, and with its counts.
    func follow(_ past: Past) {
        var session = past.session
        session.renegotiate(
            payloadType: configuration.payloadType, clockRate: configuration.rtpClockRate)
        sender.session = session
        counts = past.counts
        counts.peerLeft = false
    }

    /// What is left of one that another may follow.
    struct Past {
        fileprivate let session: RTPSession
        fileprivate let counts: MediaStatistics
    }
    var past: Past { Past(session: sender.session, counts: statistics) }

    func send(
        _ payload: UnsafeRawBufferPointer, position: Int, isAfterGap: Bool, at now: HostTime,
        _ transmit: (UnsafeRawBufferPointer) -> Void
    ) {
        sender.send(payload, position: position, afterGap: isAfterGap, at: now, transmit)
    }

    func receive(_ datagram: UnsafeRawBufferPointer, at now: HostTime) {
        let received = sender.session.receive(datagram, at: now)
        if case .ignored = received {} else { counts.lastHeard = now }
        switch received {
        case .media(let media):
            counts.lastMedia = now
            if media.startsSource {
                counts.peerLeft = false
                aac?.restart()
            }
            deliver(media, UnsafeRawBufferPointer(rebasing: datagram[media.payload]), at: now)
        case .goodbye: counts.peerLeft = true
        case .report, .ignored: break
        }
    }

    /// The next packet comes after a gap.
    func interrupt() { sender.interrupt() }

    /// A report that is due, a frame that has waited long enough for the one before it.
    func tick(at now: HostTime, isOpen: Bool, transmit: (UnsafeRawBufferPointer) -> Void) {
        if let packets { aac?.tick(at: now, into: packets) }
        // One that cannot go out counts as sent: the next is due a second later.
        if let due = sender.session.nextReportTime, due <= now { sender.report(at: now) { if isOpen { transmit($0) } } }
    }

    func leave(at now: HostTime, transmit: (UnsafeRawBufferPointer) -> Void) { sender.bye(at: now, transmit) }

    var nextDeadline: HostTime? {
        guard let wait = aac?.deadline else { return sender.session.nextReportTime }
        guard let report = sender.session.nextReportTime else { return wait }
        return min(wait, report)
    }

    var statistics: MediaStatistics {
        var s = counts
        s.rtp = sender.session.statistics
        s.corruptPackets += aac?.corruptUnits ?? 0
        s.lateUnits += aac?.lateUnits ?? 0
        s.rejectedPackets += aac?.rejectedUnits ?? 0
        return s
    }

    private func deliver(_ media: ReceivedMedia, _ payload: UnsafeRawBufferPointer, at now: HostTime) {
        guard let packets else { return }
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
            push(media, payload, frames: opus.ticks, at: now, into: packets)
        case .opusCustom:
            guard let custom = try? OpusCustomPayload(parsing: payload) else { return counts.corruptPackets += 1 }
            let frames = UnsafeRawBufferPointer(rebasing: payload[OpusCustomPayload.headerSize...])
            push(media, frames, frames: custom.ticks, at: now, into: packets)
        case .pcm:
            let frames = try? PCMPayload.frameCount(
                payloadSize: payload.count, channelCount: configuration.channelCount)
            guard let frames else { return counts.corruptPackets += 1 }
            push(media, payload, frames: frames, at: now, into: packets)
        }
    }

    private func push(
        _ media: ReceivedMedia, _ payload: UnsafeRawBufferPointer, frames: Int, at now: HostTime,
        into packets: PacketQueue
    ) {
        // A packet that its source's very first overtook may count from below zero; it is late by any measure.
        guard media.sequenceNumber >= 0 else { return counts.rejectedPackets += 1 }
        let header = PacketHeader(
            sequence: media.sequenceNumber, position: media.position, frameCount: frames, byteCount: payload.count,
            arrival: now, startsStream: media.startsSource)
        if !packets.push(header, payload: payload) { counts.rejectedPackets += 1 }
    }
}
