// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport
import EarshotNearby

@testable import EarshotCall
@testable import EarshotLiveCall
@testable import EarshotRooms

/// The room of a changed call: its roster, and the media between its members.
extension ChangedCall {
    /// Person 0 opens the room.
    func host() throws {
        let peer = try makePeer(0)
        peers[0] = peer
        after(0) { [unowned self] in inspectDevices(of: peer) }
        var generator = SeededRandom(seed: seed)
        let roster = Roster(
            room: RoomID(using: &generator), name: CoreRig.name(1), epoch: .first, revision: 1, host: peer.id,
            members: [member(peer)])
        self.roster = roster
        try peer.perform(.setEffects(["gain"]))
        try peer.perform(.host(CoreRig.opening))
        peer.handle(.room(.joined(roster, as: peer.id)))
        peer.addFace()
    }

    /// A person joins the room, and negotiates media with each member.
    func join(_ person: Int) throws {
        let peer = try makePeer(person)
        change { $0.members.append(member(peer)) }
        peers[person] = peer
        after(0) { [unowned self] in inspectDevices(of: peer) }
        gains.join(person)
        peer.handle(.volumes(volumes[person]))
        try peer.perform(.setEffects(["gain"]))
        try peer.perform(.join(CoreRig.endpoint))
        if let roster { peer.handle(.room(.joined(roster, as: peer.id))) }
        peer.addFace()
        // The call begins with PCM, which nobody prefers later.
        try peer.session.setCodec(.pcm, opusFrameMilliseconds: nil)
        for other in present where other !== peer {
            try connect(peer, to: other)
            allowMove(of: other, heardBy: peer)
        }
        try peer.session.setCodec(nil, opusFrameMilliseconds: nil)
        gains.update(at: now)
    }

    private func makePeer(_ person: Int) throws -> ChangedPeer {
        lastID += 1
        return try ChangedPeer(person, CoreRig.id(lastID), in: self)
    }

    private func member(_ peer: ChangedPeer) -> Member {
        let number = UInt64(peer.person) + 1
        return Member(
            id: peer.id, name: CoreRig.name(number), key: CoreRig.key(number), addresses: [], port: 47_400)
    }

    private func connect(_ peer: ChangedPeer, to other: ChangedPeer) throws {
        let offer = try peer.session.offer(to: other.peerID)
        try peer.session.accept(other.session.answer(offer, from: peer.peerID), from: other.peerID)
        for (one, another) in [(peer, other), (other, peer)] {
            one.client.setOpen(true, to: another.peerID)
            if let member = roster?[another.id] { one.handle(.room(.transport(member, .open(since: now)))) }
        }
    }

    /// A peer whose call has ended leaves the room. The others know it up to 60 ms later.
    func leave(_ peer: ChangedPeer) {
        for other in present where other !== peer {
            peer.client.leave(other.peerID, at: now) { send($0, from: peer, to: $1) }
        }
        peer.handle(.roomClosed)
        peers[peer.person] = nil
        departed.append(peer)
        gains.leave(peer.person)
        gains.update(at: now)
        after(0.06 * random.unit()) { [unowned self] in
            for other in present {
                other.session.end(peer.peerID)
                other.client.setOpen(false, to: peer.peerID)
            }
            change { $0.members.removeAll { $0.id == peer.id } }
        }
    }

    /// A participant tells the room something about itself.
    func update(_ id: MemberID, _ notice: LiveCallCore.ParticipantNotice) {
        after(0) { [unowned self] in
            change { roster in
                guard let index = roster.index(of: id) else { return }
                if let name = notice.name { roster.members[index].name = name }
                if let isMuted = notice.isMuted { roster.members[index].isMuted = isMuted }
                if let isRecording = notice.isRecording { roster.members[index].isRecording = isRecording }
                if let allowsRecording = notice.allowsRecording {
                    roster.members[index].allowsRecording = allowsRecording
                }
            }
        }
    }

    /// Changes the roster, and tells everybody.
    private func change(_ body: (inout Roster) -> Void) {
        guard let old = roster else { return }
        var new = old
        body(&new)
        new.revision += 1
        roster = new
        let changes = new.changes(since: old)
        guard !changes.isEmpty else { return }
        for peer in present { peer.handle(.room(.changed(changes, new))) }
    }

    func say(_ text: String, from sender: ChangedPeer, to participants: [Participant]) {
        let message = ChatMessage(sender: sender.id, senderName: nil, text: text, byteCount: text.utf8.count)
        after(0.002) { [unowned self] in
            for participant in participants {
                present.first { $0.id == participant.id }?.handle(.message(message))
            }
            if peers[sender.person] === sender { sender.handle(.unsentMessages(0)) }
        }
    }
}
