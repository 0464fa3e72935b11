// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport

@testable import EarshotCall
@testable import EarshotLiveCall
@testable import EarshotRooms

/// Frames that a listener may miss because of a changed codec or device.
struct GapAllowance {
    /// The change that allows them.
    let kind: CallChange.Kind
    let listener: Int
    let speaker: Int
    let end: HostTime
    let frameCount: Int
    /// The frames that were missing.
    var usedFrameCount = 0
}

/// The codec of the media between the members, which is negotiated as a room does it: one negotiation of two people at a time.
extension ChangedCall {
    /// The frames of a new Opus encoder's first packet.
    private static let firstOpusPacket = 480
    /// The seconds after a change of the codec in which the gap must end: longer packets are few, so their delays are learned
    /// slowly.
    private static let gapTime = 1.0

    /// The seconds for which a description is under way.
    private func descriptionTime() -> Double { 0.005 + 0.025 * random.unit() }

    /// Negotiates media with these members again.
    func renegotiate(_ ids: [MemberID], by peer: ChangedPeer) {
        for id in ids { after(0.001) { [unowned self] in offer(to: id, from: peer) } }
    }

    private func offer(to id: MemberID, from peer: ChangedPeer) {
        guard let other = present.first(where: { $0.id == id }), areInCall(peer, other) else { return }
        guard negotiations.insert(peer.person + other.person).inserted else {
            return after(0.01) { [unowned self] in offer(to: id, from: peer) }
        }
        gains.beginFormatChange(between: peer.person, other.person)
        gains.update(at: now)
        do {
            let offer = try peer.session.offer(to: other.peerID)
            after(descriptionTime()) { [unowned self] in answer(offer, from: peer, by: other) }
        } catch {
            fail(error, peer, other)
        }
    }

    private func answer(_ offer: SessionDescription, from peer: ChangedPeer, by other: ChangedPeer) {
        guard areInCall(peer, other) else { return endNegotiation(peer, other) }
        do {
            let old = other.session.statistics(of: peer.peerID)?.configuration
            let answer = try other.session.answer(offer, from: peer.peerID)
            allowGap(of: other, heardBy: peer, since: old)
            after(descriptionTime()) { [unowned self] in accept(answer, by: peer, from: other) }
        } catch {
            fail(error, peer, other)
        }
    }

    private func accept(_ answer: SessionDescription, by peer: ChangedPeer, from other: ChangedPeer) {
        guard areInCall(peer, other) else { return endNegotiation(peer, other) }
        do {
            let old = peer.session.statistics(of: other.peerID)?.configuration
            try peer.session.accept(answer, from: other.peerID)
            allowGap(of: peer, heardBy: other, since: old)
            endNegotiation(peer, other)
        } catch {
            fail(error, peer, other)
        }
    }

    private func areInCall(_ one: ChangedPeer, _ other: ChangedPeer) -> Bool {
        peers[one.person] === one && peers[other.person] === other
    }

    private func fail(_ error: any Error, _ one: ChangedPeer, _ other: ChangedPeer) {
        note("persons \(one.person) and \(other.person) cannot negotiate: \(error)")
        endNegotiation(one, other)
    }

    private func endNegotiation(_ one: ChangedPeer, _ other: ChangedPeer) {
        negotiations.remove(one.person + other.person)
        let persons = (one.person, other.person)
        after(ExpectedGains.shiftEnd) { [unowned self] in
            gains.endFormatChange(between: persons.0, persons.1)
            gains.update(at: now)
        }
    }

    /// Allows the gap of a new format: none if its packets, with the look-ahead of the codec, are not longer than the old ones;
    /// otherwise one packet and the additional look-ahead. A PCM packet is a block of the sender's card; other packets wait for
    /// the end of a block, so their delays vary by a part of it.
    private func allowGap(of speaker: ChangedPeer, heardBy listener: ChangedPeer, since old: CallConfiguration?) {
        guard let old, let new = speaker.session.statistics(of: listener.peerID)?.configuration else { return }
        guard old.codec != new.codec || old.framesPerPacket != new.framesPerPacket else { return }
        let packet = new.codec == .opus ? max(Self.firstOpusPacket, new.framesPerPacket) : new.framesPerPacket
        guard packet + new.codecShift > old.framesPerPacket + old.codecShift else { return }
        let spread = old.codec == .pcm && new.codec != .pcm ? speaker.device.device.blockFrameCount : 0
        allowances.append(
            GapAllowance(
                kind: .codec, listener: listener.person, speaker: speaker.person,
                end: now.advanced(bySeconds: Self.gapTime),
                frameCount: packet + max(0, new.codecShift - old.codecShift) + spread))
    }

    /// Returns how many of these missing frames are explained by a changed codec or device. An allowance is used once.
    func explainedFrames(of frameCount: Int, _ speaker: Int, heardBy listener: Int) -> Int {
        var rest = frameCount
        for index in allowances.indices where rest > 0 {
            let allowance = allowances[index]
            guard allowance.listener == listener, allowance.speaker == speaker, allowance.end >= now else { continue }
            let used = min(rest, allowance.frameCount - allowance.usedFrameCount)
            guard used > 0 else { continue }
            allowances[index].usedFrameCount += used
            rest -= used
        }
        return max(0, frameCount) - max(0, rest)
    }

    /// Returns true while a changed codec or device may cost a listener frames of a voice.
    func isChanging(_ speaker: Int, heardBy listener: Int) -> Bool {
        allowances.contains { $0.listener == listener && $0.speaker == speaker && $0.end >= now }
    }

    /// Two people must have the same codec in both directions when nothing is negotiated any longer.
    func checkFormats() {
        for one in present {
            for other in present where other.person > one.person {
                let codecs = [
                    one.session.statistics(of: other.peerID)?.configuration.codec,
                    other.session.statistics(of: one.peerID)?.configuration.codec,
                ]
                guard codecs[0] != codecs[1] else { continue }
                note("persons \(one.person) and \(other.person) differ: \(codecs.map { $0?.rawValue ?? "none" })")
            }
        }
    }
}
