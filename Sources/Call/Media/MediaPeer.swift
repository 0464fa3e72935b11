// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioCodecs
import EarshotMediaTransport
import EarshotPlayout

/// The media of one remote peer, without socket, thread and clock. Created on the control thread; from ``MediaCore/add(_:as:)``
/// on it belongs to the media thread.
package final class MediaPeer {
    /// The negotiated configuration.
    package let configuration: CallConfiguration
    /// The encoder of the payloads for the remote peer, shared with peers of the same form; nil if only reports are sent.
    let stream: StreamEncoder?
    let packets: PacketQueue?
    /// True if the previous format's encoder and playout continue.
    let continues: Bool
    /// The codec of the playout's main decoder.
    let playoutCodec: Codec
    /// Formats that are received besides the negotiated one.
    var otherFormats: [PayloadFormat] = []
    /// The lowest known number of a packet in the negotiated format; nil before the first such packet.
    var firstNegotiatedNumber: Int?
    /// The look-ahead of the last packet in the negotiated codec that began no stream; 0 before the first.
    var receivedLookahead = 0
    /// The look-ahead of the remote peer's Opus encoder by the last description; nil if unknown.
    var describedLookahead: Int?
    var aac: AACReceiver?
    /// The playout of the recording; see ``listen(_:)``.
    var second: RecordingPlayout?
    var sender: PacketSender
    var counts: MediaStatistics
    var policy = RedundancyPolicy()
    var log: ReceiveHistory
    var rate: RateControl
    /// The estimate of the remote peer's clock; nil without negotiated send times.
    var clock: ClockMeter?
    private var requested: [Int] = []  // sequence numbers to request; a property to reuse its memory

    /// - Parameters:
    ///   - stream: the encoder of the configuration's form; nil if the remote peer receives nothing.
    ///   - playout: gets the received packets; nil if the remote peer sends only reports.
    ///   - session: numbers and counts the packets.
    ///   - continuedCodec: the codec for which `playout` was created, if `stream` and `playout` continue from the same remote
    ///     peer's previous format; nil if both are new.
    package init(
        _ configuration: CallConfiguration, stream: StreamEncoder?, playout: Playout?, session: RTPSession,
        continuedCodec: Codec? = nil
    ) throws(CodecError) {
        self.configuration = configuration
        self.stream = stream
        packets = playout?.packets
        continues = continuedCodec != nil
        playoutCodec = continuedCodec ?? configuration.codec
        aac =
            configuration.codec.traits.isDecodedAhead && playout != nil
            ? try AACReceiver(
                audioSpecificConfig: configuration.remoteAudioSpecificConfig, channelCount: configuration.channelCount)
            : nil
        var session = session
        session.repair = configuration.repair
        session.sendTimeID = configuration.sendTimeID
        clock = configuration.sendTimeID == nil ? nil : ClockMeter()
        sender = PacketSender(session: session, isAAC: configuration.codec.traits.isDecodedAhead)
        counts = MediaStatistics(rtp: session.statistics)
        rate = try RateControl(configuration, sends: stream != nil)
        log = ReceiveHistory(clockRate: Double(configuration.rtpClockRate))
        requested.reserveCapacity(64)
    }

    /// The RTP timestamps of the first frame sent and of the first frame received; `received` is nil until the first packet.
    package var timestampOrigins: (sent: UInt32, received: UInt32?) {
        (sender.session.firstTimestamp, sender.session.receivedFirstTimestamp)
    }

    /// Continues the source and the counts of the same remote peer's previous media.
    func follow(_ past: Past) {
        if continues { return change(from: past) }
        var session = past.session
        session.renegotiate(
            payloadType: configuration.payloadType, clockRate: configuration.rtpClockRate)
        session.repair = configuration.repair
        session.otherTypes.plain = otherFormats.map(\.payloadType)
        session.sendTimeID = configuration.sendTimeID
        sender.session = session
        followClock(of: past.media)
        counts = past.counts
        counts.peerLeft = false
        rate.policy.follow(past.rate)
        rate.requestsSent = past.requestsSent
        (repeatedBefore, answeredBefore) = (counts.repeatedPackets, counts.retransmittedPackets)
    }

    /// The state that the same remote peer's next media continues after a renegotiation.
    struct Past {
        let session: RTPSession
        let counts: MediaStatistics
        let rate: RatePolicy
        let requestsSent: Int
        let media: MediaPeer
    }
    var past: Past {
        Past(
            session: sender.session, counts: statistics, rate: rate.policy, requestsSent: rate.requestsSent, media: self
        )
    }
    var (repeatedBefore, answeredBefore) = (0, 0)

    func send(
        _ payload: UnsafeRawBufferPointer, position: Int, isAfterGap: Bool, at now: HostTime,
        _ transmit: (UnsafeRawBufferPointer) -> Void
    ) {
        sender.send(payload, position: position, afterGap: isAfterGap, at: now, transmit)
    }

    /// Marks the next packet as following a gap.
    func interrupt() { sender.interrupt() }

    /// Sends what is due: a report, requests for packets or a lower rate, and retransmissions. Ends waits for reordered frames.
    func tick(at now: HostTime, isOpen: Bool, transmit: (UnsafeRawBufferPointer) -> Void) {
        if let packets { aac?.tick(at: now, into: packets) }
        second?.tick(at: now)
        tickRate(at: now, isOpen: isOpen, transmit: transmit)
        tickClock(at: now, isOpen: isOpen, transmit)
        if isOpen {
            ask(at: now, transmit)
            sender.answer(at: now, transmit)
        }
        // A report that cannot be sent counts as sent: the next is due a second later.
        if let due = sender.session.nextReportTime, due <= now {
            sender.session.hold = packets?.hold.map { PlayoutHold(seconds: $0.seconds, limit: $0.limit) }
            sender.report(at: now) { if isOpen { transmit($0) } }
        }
    }

    private func ask(at now: HostTime, _ transmit: (UnsafeRawBufferPointer) -> Void) {
        guard sender.session.repair.takesNACK, let due = log.nextRequestTime, due <= now else { return }
        log.due(
            at: now, roundTrip: sender.session.statistics.roundTrip, hold: packets?.longestHold ?? 0, into: &requested)
        if !requested.isEmpty, sender.ask(for: requested, transmit) { counts.nacksSent += 1 }
    }

    func leave(at now: HostTime, transmit: (UnsafeRawBufferPointer) -> Void) { sender.bye(at: now, transmit) }

    var nextDeadline: HostTime? {
        var next = sender.session.nextReportTime
        // Without an array, because this runs at every turn of the media thread.
        if let due = aac?.deadline { next = min(due, next ?? due) }
        if let due = second?.deadline { next = min(due, next ?? due) }
        if sender.session.repair.takesNACK, let due = log.nextRequestTime { next = min(due, next ?? due) }
        return next
    }

    var statistics: MediaStatistics {
        var s = counts
        s.rtp = sender.session.statistics
        s.corruptPackets += aac?.corruptUnits ?? 0
        s.lateUnits += aac?.lateUnits ?? 0
        s.rejectedPackets += aac?.rejectedUnits ?? 0
        s.repeatedPackets = repeatedBefore + sender.repeatedPayloads - sender.answeredPackets
        s.retransmittedPackets = answeredBefore + sender.answeredPackets
        s.redundancy = sender.plan
        s.rate = stream == nil ? nil : rate.state
        s.clock = clock?.reading
        return s
    }

    // MARK: Redundancy

    /// The bits a second for sound and redundancy together; nil for the default.
    var budget: Double? { didSet { policy.budget = budget } }

    /// The loss in percent for Opus's own redundancy; 0 if the remote peer does not use that, or has a better repair.
    var codecLoss: Int {
        let hasBetterRepair = configuration.repair.redundant != nil
        return configuration.takesCodecRedundancy && !hasBetterRepair ? policy.codecLoss : 0
    }

    /// Reads the losses from the remote peer's report and decides on the redundancy.
    func learn(at now: HostTime) {
        learnRate(at: now)
        guard let pattern = sender.session.takeLossPattern() else { return }
        if let hold = sender.session.remoteHold { policy.delayLimit = hold.limit }
        let duration = packetDuration
        let bitRate = Double(rate.rung.bitRate)
        policy.addPattern(
            pattern,
            of: RedundancyPolicy.Stream(
                packetDuration: duration, bitRate: bitRate, repeatsAlone: configuration.repair.repeated != nil),
            at: Double(now.nanoseconds) / 1e9)
        let canRepeat = configuration.repair.redundant != nil || configuration.repair.repeated != nil
        sender.plan = canRepeat && rate.rung.codec == configuration.codec ? policy.plan : .none
    }

    /// The seconds of sound in a packet; for a divided PCM block, in the first of its packets.
    private var packetDuration: Double {
        var frames = rate.rung.framesPerPacket
        if !rate.rung.codec.traits.hasBitRate {
            frames =
                PCMPayload.split(frameCount: frames, channelCount: configuration.channelCount).first?.count ?? frames
        }
        return Double(frames) / configuration.streamRate
    }
}
