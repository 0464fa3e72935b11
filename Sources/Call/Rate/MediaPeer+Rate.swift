// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioCodecs
import EarshotMediaTransport

/// Adapts the bit rate to the link.
extension MediaPeer {
    /// Returns true if the remote peer gets its payloads from its own encoder, from the next captured block on.
    var usesOwnEncoder: Bool { rate.usesOwnEncoder }

    /// The bits a second that are sent to the remote peer, with headers and redundancy.
    private var sentBitRate: Double {
        rate.rung.wireBitRate + Double(sender.plan.count) * Double(rate.rung.bitRate)
    }

    /// Notes that the remote peer gets the shared encoder's stream up to a position and nothing after it.
    func leaveShared(at position: Int) { rate.encoder?.leaveShared(at: position) }

    /// Returns the device's frames until the peer's own encoder completes a packet, at least 1; nil while the peer uses
    /// the shared encoder.
    func framesUntilNextPacket(of stream: StreamEncoder) -> Int? {
        guard usesOwnEncoder, let encoder = rate.encoder else { return nil }
        let frames = Double(encoder.framesUntilNextPacket(end: stream.historyEnd))
        return max(1, Int(frames * configuration.deviceRate / configuration.streamRate))
    }

    /// Interrupts the remote peer's own encoder, if any: sound captured now is not sent.
    func interruptOwn() { rate.encoder?.interrupt() }

    /// Encodes captured frames with the remote peer's own encoder and sends the packets; during a pause, drops the frames.
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

    // MARK: Receiving

    /// Passes a packet of sound that was not a retransmission to the congestion detector, and follows its finding.
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
        return rate.meter.takeCleared()
    }

    /// Handles a finding about the link from the remote peer: requests a lower rate, and assumes that the other direction may be
    /// as slow.
    private func follow(_ finding: CongestionDetector.Finding, at now: HostTime) {
        let limit = RateControl.share * finding.bitRate
        let request = RateRequest(bitRate: limit, overhead: RateRung.headerByteCount)
        rate.request = request
        rate.repetition.note(request, at: now.inSeconds)
        if stream != nil {
            let sent = sentBitRate
            change { $0.suspect(limit: limit, isSevere: finding.isSevere, sent: sent, at: now.inSeconds) }
        }
    }

    /// Reads the state of the link to the remote peer from its report.
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

    /// Sends a rate request that is due, and makes a step up that is due.
    func tickRate(at now: HostTime, isOpen: Bool, transmit: (UnsafeRawBufferPointer) -> Void) {
        if let finding = rate.meter.tick(at: now.inSeconds) { follow(finding, at: now) }
        change { $0.tick(at: now.inSeconds) }
        if rate.request == nil { rate.request = rate.repetition.takeDue(at: now.inSeconds) }
        guard isOpen, let request = rate.request else { return }
        rate.request = nil
        if sender.ask(for: request, transmit) { rate.requestsSent += 1 }
    }

    private func change(_ body: (inout RatePolicy) -> Void) {
        let before = rate.policy.rung
        body(&rate.policy)
        guard rate.policy.rung > before else { return }
        // After a step down the link has no room for redundancy until the next report decides on it again.
        sender.plan = .none
        sender.interrupt()
    }

    /// Limits redundancy to what the link's rate leaves beside the sound.
    func limitRedundancy(at now: HostTime) {
        guard let room = rate.policy.room(at: now.inSeconds) else { return policy.budget = budget }
        let rung = rate.rung
        let limit = max(Double(rung.bitRate), room - (rung.wireBitRate - Double(rung.bitRate)))
        policy.budget = min(budget ?? .infinity, limit)
    }
}
