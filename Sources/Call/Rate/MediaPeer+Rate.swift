// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioCodecs
import EarshotMediaTransport

/// The bit rate follows the link.
extension MediaPeer {
    /// Returns true if its payloads are made for it alone, from the next captured block on.
    var isOnItsOwn: Bool { rate.isOnItsOwn }

    /// Bits a second that are sent to it at present, headers and repetitions counted.
    private var sentBitRate: Double {
        rate.rung.wireBitRate + Double(sender.plan.count) * Double(rate.rung.bitRate)
    }

    /// The shared encoder has come so far; what it encodes from here on is not for this remote peer.
    func leaveShared(at position: Int) { rate.encoder?.leaveShared(at: position) }

    /// Frames of the device until its next packet is complete, 1 or more; nil while it has what all have.
    func framesUntilNextPacket(of stream: StreamEncoder) -> Int? {
        guard isOnItsOwn, let encoder = rate.encoder else { return nil }
        let frames = Double(encoder.framesUntilNextPacket(end: stream.historyEnd))
        return max(1, Int(frames * configuration.deviceRate / configuration.streamRate))
    }

    /// Interrupts its own encoder: sound that is captured now is not sent.
    func interruptOwn() { rate.encoder?.interrupt() }

    /// Encodes what its stream has taken, and sends it.
    func sendOwn(
        _ stream: StreamEncoder, at now: HostTime, _ transmit: (UnsafeRawBufferPointer) -> Void
    ) throws(CodecError) {
        guard let encoder = rate.encoder else { return }
        if rate.policy.isPaused(at: now.inSeconds) { return encoder.interrupt() }
        let own = configuration.codec
        try encoder.encode(rung: rate.policy.rung, expectedLoss: codecLoss, of: stream) {
            (payload: UnsafeRawBufferPointer, position: Int, codec: Codec, isAfterGap: Bool) in
            sender.send(
                payload, position: position, afterGap: isAfterGap, isFallbackCodec: codec != own, at: now, transmit)
        }
    }

    // MARK: What comes

    /// Measures a packet of sound that came by itself.
    /// - Returns: true if a link that was too slow is free again.
    func measure(_ media: ReceivedMedia, frames: Int, at now: HostTime) -> Bool {
        guard sender.session.repair.takesRateRequests else { return false }
        let end = Double(media.position + frames) / Double(configuration.rtpClockRate)
        if let packets { rate.meter.follow(drift: packets.drift) }
        let finding = rate.meter.add(
            sequence: media.sequenceNumber, end: end, duration: Double(frames) / configuration.streamRate,
            byteCount: rate.arrivingBytes, at: now.inSeconds)
        rate.arrivingBytes = 0
        if let finding { follow(finding, at: now) }
        return rate.meter.takeRelief()
    }

    /// The link from the remote peer is too slow: it is to be told, and the link to it may be as slow.
    private func follow(_ finding: CongestionDetector.Finding, at now: HostTime) {
        let limit = RateControl.share * finding.bitRate
        rate.request = RateRequest(bitRate: limit, overhead: RateRung.headerByteCount)
        if stream != nil {
            let sent = sentBitRate
            change { $0.suspect(limit: limit, isSevere: finding.isSevere, sent: sent, at: now.inSeconds) }
        }
    }

    /// Takes what a report says of the link to the remote peer.
    func learnRate(at now: HostTime) {
        guard configuration.changesRate else { return }
        let (seconds, sent) = (now.inSeconds, sentBitRate)
        let statistics = sender.session.statistics
        if let request = sender.session.takeRateRequest() {
            change { $0.apply(limit: request.bitRate, sent: sent, roundTrip: statistics.roundTrip, at: seconds) }
        } else if !sender.session.repair.takesRateRequests, seconds - rate.reportedAt > 0.5,
            let remote = sender.session.takeReport()
        {
            rate.reportedAt = seconds
            change {
                $0.apply(loss: remote.fractionLost, roundTrip: statistics.roundTrip, at: seconds)
            }
        }
        limitRedundancy(at: now)
    }

    /// Sends a due rate request and takes a due step up.
    func tickRate(at now: HostTime, isOpen: Bool, transmit: (UnsafeRawBufferPointer) -> Void) {
        if let finding = rate.meter.tick(at: now.inSeconds) { follow(finding, at: now) }
        change { $0.tick(at: now.inSeconds) }
        guard isOpen, let request = rate.request else { return }
        rate.request = nil
        if sender.ask(for: request, transmit) { rate.requestsSent += 1 }
    }

    private func change(_ body: (inout RatePolicy) -> Void) {
        let before = rate.policy.rung
        body(&rate.policy)
        guard rate.policy.rung > before else { return }
        // The next report decides redundancy anew; until then the link has no room for it.
        sender.plan = .none
        sender.interrupt()
    }

    /// Limits redundancy to the link's rate.
    func limitRedundancy(at now: HostTime) {
        guard let room = rate.policy.room(at: now.inSeconds) else { return policy.budget = budget }
        let rung = rate.rung
        let limit = max(Double(rung.bitRate), room - (rung.wireBitRate - Double(rung.bitRate)))
        policy.budget = min(budget ?? .infinity, limit)
    }
}
