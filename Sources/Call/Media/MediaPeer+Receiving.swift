// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport
import EarshotPlayout

extension MediaPeer {
    func receive(_ datagram: UnsafeRawBufferPointer, at now: HostTime, arrived: HostTime) {
        let received = sender.session.receive(datagram.bytes, at: now)
        if case .ignored = received {} else { counts.lastHeard = now }
        rate.arrivingBytes = datagram.count + RateControl.datagramHeaders
        switch received {
        case .media(let media):
            counts.lastMedia = now
            if let sent = media.sendTime {
                clock?.addPacket(sent: sent, arrived: arrived)
            } else {
                clock?.noteOtherPacket(arrived: arrived)
            }
            if media.startsSource {
                counts.peerLeft = false
                aac?.restart()
                second?.restart()
                log.restart()
                firstNegotiatedNumber = nil
                rate.meter.restart()
            }
            let payload = UnsafeRawBufferPointer(rebasing: datagram[media.payload])
            if media.isRedundant {
                deliverBlocks(media, payload, at: now)
            } else {
                deliver(media, payload, at: now)
            }
        case .repeated(let media):
            clock?.noteOtherPacket(arrived: arrived)
            rate.meter.count(byteCount: rate.arrivingBytes)
            deliverAgain(media, UnsafeRawBufferPointer(rebasing: datagram[media.payload]), at: now)
        case .goodbye: counts.peerLeft = true
        case .report:
            clock?.noteOtherPacket(arrived: arrived)
            learn(at: now)
            learnClock(at: now)
        case .ignored: break
        }
    }

    /// Delivers a packet that has no redundant blocks and is not a retransmission.
    private func deliver(_ media: ReceivedMedia, _ payload: UnsafeRawBufferPointer, at now: HostTime) {
        guard let packets else { return }
        if aac != nil {
            guard let units = try? AACPayload(parsing: payload.bytes) else { return counts.corruptPackets += 1 }
            _ = measure(media, frames: units.unitCount * AACPayload.framesPerUnit, at: now)
            units.forEach { unit in
                let (bytes, position) = (payload[unit.bytes], media.position + unit.frameOffset)
                aac?.receive(UnsafeRawBufferPointer(rebasing: bytes), position: position, at: now, into: packets)
                second?.receive(UnsafeRawBufferPointer(rebasing: bytes), position: position, at: now)
            }
            return
        }
        let codec = codec(ofType: media.payloadType)
        guard let frames = frameCount(payload, codec) else { return counts.corruptPackets += 1 }
        noteNegotiatedFormat(media, type: media.payloadType)
        push(media, payload, codec, frames: frames, at: now, into: packets)
    }

    /// Notes the number of a packet in the negotiated format: retransmissions from this number on have the same format.
    private func noteNegotiatedFormat(_ media: ReceivedMedia, type: UInt8) {
        guard type == configuration.payloadType else { return }
        firstNegotiatedNumber = min(firstNegotiatedNumber ?? .max, media.sequenceNumber)
    }

    /// Delivers a packet with redundant blocks, and recovers missing packets from the blocks.
    private func deliverBlocks(_ media: ReceivedMedia, _ payload: UnsafeRawBufferPointer, at now: HostTime) {
        guard let packets, aac == nil, let blocks = try? REDPayload(parsing: payload.bytes),
            knows(type: blocks.own.payloadType)
        else { return counts.corruptPackets += packets == nil ? 0 : 1 }
        // The new packet comes before its redundant blocks, because its number shows which packets are missing.
        let bytes = UnsafeRawBufferPointer(rebasing: payload[blocks.own.bytes])
        let codec = codec(ofType: blocks.own.payloadType)
        guard let frames = frameCount(bytes, codec) else { return counts.corruptPackets += 1 }
        noteNegotiatedFormat(media, type: blocks.own.payloadType)
        push(media, bytes, codec, frames: frames, at: now, into: packets)
        blocks.forEachEarlier { block in
            guard block.payloadType == blocks.own.payloadType else { return }
            let bytes = UnsafeRawBufferPointer(rebasing: payload[block.bytes])
            guard block.age > 0, let count = frameCount(bytes, codec) else { return }
            log.recordRepetition(of: (block.age + count / 2) / count, by: media.sequenceNumber)
            let position = media.position - block.age
            if let sequence = log.missing(at: position, frameCount: count) {
                recover(sequence, position, bytes, codec, frames: count, at: now, into: packets)
            } else {
                counts.redundantPackets += 1
            }
        }
    }

    /// Delivers a retransmitted packet, if the packet is missing.
    private func deliverAgain(_ media: ReceivedMedia, _ payload: UnsafeRawBufferPointer, at now: HostTime) {
        guard let packets, aac == nil else { return }
        // A retransmission in the previous format may have the same type. Decoded in this format it would be noise.
        if continues, media.sequenceNumber < firstNegotiatedNumber ?? .max { return }
        let codec = configuration.codec
        guard let frames = frameCount(payload, codec) else { return counts.corruptPackets += 1 }
        log.expect(media.sequenceNumber, position: media.position, at: now)
        log.recordUnrequested(media.sequenceNumber)
        guard log.isMissing(media.sequenceNumber) else { return counts.redundantPackets += 1 }
        recover(media.sequenceNumber, media.position, payload, codec, frames: frames, at: now, into: packets)
    }

    private func recover(
        _ sequence: Int, _ position: Int, _ payload: UnsafeRawBufferPointer, _ codec: Codec, frames: Int,
        at now: HostTime, into packets: PacketQueue
    ) {
        let sound = sound(of: payload, codec)
        let wasRequested = log.recover(sequence, position: position, frameCount: frames)
        counts.recoveredPackets += 1
        var header = PacketHeader(
            sequence: sequence, position: position, frameCount: frames, byteCount: sound.count, arrival: now,
            isRecovered: true, wasRequested: wasRequested)
        header.isFallbackCodec = codec != playoutCodec
        if !packets.push(header, payload: sound) { counts.rejectedPackets += 1 }
    }

    private func push(
        _ media: ReceivedMedia, _ payload: UnsafeRawBufferPointer, _ codec: Codec, frames: Int, at now: HostTime,
        into packets: PacketQueue
    ) {
        // A packet older than the source's first one may have a negative number; it is too late anyway.
        guard media.sequenceNumber >= 0 else { return counts.rejectedPackets += 1 }
        // The packet has used the link even if its copy arrived before.
        let endsCongestion = measure(media, frames: frames, at: now)
        log.isKept = codec == configuration.codec
        if log.arrive(media.sequenceNumber, position: media.position, frameCount: frames, at: now) == .had {
            return counts.redundantPackets += 1
        }
        let sound = sound(of: payload, codec)
        var header = PacketHeader(
            sequence: media.sequenceNumber, position: media.position, frameCount: frames, byteCount: sound.count,
            arrival: now, startsStream: media.startsSource)
        header.isFallbackCodec = codec != playoutCodec
        header.endsCongestion = endsCongestion
        header.lookahead = lookahead(codec, frames: frames, isFirst: media.marker)
        if !packets.push(header, payload: sound) { counts.rejectedPackets += 1 }
    }

    /// Returns the look-ahead of a packet's encoder. The first packet of an encoder may be longer than the others, whose length
    /// determines the look-ahead: that of the description, or on a slow link a longer one.
    func lookahead(_ codec: Codec, frames: Int, isFirst: Bool) -> Int {
        let usual = codec.inCalls.shift(framesPerPacket: frames)
        let isNegotiated = codec == configuration.codec
        guard isFirst else {
            if isNegotiated { receivedLookahead = usual }
            return usual
        }
        let described = describedLookahead ?? (isNegotiated ? configuration.codecShift : usual)
        return min(usual, max(described, isNegotiated ? receivedLookahead : 0))
    }

    /// Returns the frames of a payload that playout decodes; nil if the payload is damaged.
    private func frameCount(_ payload: UnsafeRawBufferPointer, _ codec: Codec) -> Int? {
        codec.inCalls.frameCount(payload, channelCount: configuration.channelCount)
    }

    /// Returns the coded sound of a payload, without Opus Custom's header.
    private func sound(of payload: UnsafeRawBufferPointer, _ codec: Codec) -> UnsafeRawBufferPointer {
        let headerSize = codec.inCalls.headerSize
        return headerSize == 0 ? payload : UnsafeRawBufferPointer(rebasing: payload[headerSize...])
    }
}
