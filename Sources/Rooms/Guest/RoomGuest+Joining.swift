// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport

extension RoomGuest {
    /// Stores the PIN's key and fetches a new nonce; the guest then asks to be admitted with a proof of the PIN.
    mutating func provide(_ pin: PINKey, _ now: HostTime) -> [Action] {
        guard joining?.waitsForPIN == true, let endpoint = joining?.endpoint else { return [] }
        joining?.pinKey = pin
        joining?.waitsForPIN = false
        return [call(.describe, endpoint, .describe, Limit.call, now)]
    }

    /// Handles the description of the room by a peer with this verified key.
    mutating func described(
        _ info: RoomInfo, by key: KeyFingerprint, at address: SocketAddress, _ now: HostTime
    ) -> [Action] {
        guard joining != nil else { return [] }
        guard key != signer.key else { return finish(.refused(.ownKey)) }
        guard info.role == .host else { return finish(.refused(.notHost)) }
        switch knownPeers.standing(of: key, as: info.hostName) {
        case .known, .unknown: break
        case .changed(let was): return finish(.changedKey(name: info.hostName, was: was, now: key))
        case .blocked: return finish(.blockedHost(info.hostName, key))
        }
        let endpoint = Endpoint(addresses: [address], key: .exactly(key))
        joining?.endpoint = endpoint
        joining?.info = info
        joining?.hostKey = key
        var ask = JoinRequestBody(
            name: configuration.name, purpose: configuration.purpose, addresses: configuration.addresses,
            port: configuration.port, isMuted: configuration.isMuted, isRecording: configuration.isRecording,
            allowsRecording: configuration.allowsRecording, isEphemeral: configuration.isEphemeral)
        if info.needsPIN {
            guard let pin = joining?.pinKey, pin.room == info.room else {
                joining?.waitsForPIN = true
                return [.needPIN(info.room, host: key)]
            }
            guard let nonce = info.nonce?.bytes, nonce.count == PINKey.nonceSize else {
                return finish(.refused(.malformed("it has no nonce for the PIN's proof")))
            }
            ask.pinProof = Base64(pin.proof(by: .guest, nonce: nonce, guest: signer.key.bytes))
            joining?.expectedProof = pin.proof(by: .host, nonce: nonce, guest: signer.key.bytes)
        } else if configuration.hasPIN {
            return finish(.noPINWanted(info))
        }
        joining?.unsent = MemberUpdate()
        return [.notify(.asking(info)), call(.ask(ask), endpoint, .ask, Limit.decision, now)]
    }

    /// Handles the admission by the host.
    mutating func admitted(_ admission: Admission, by key: KeyFingerprint, _ now: HostTime) -> [Action] {
        guard let joining, let info = joining.info, joining.hostKey == key else { return [] }
        if let expected = joining.expectedProof {
            guard let proof = admission.hostProof?.bytes, Digest.isEqual(proof, expected) else {
                return [call(.leave, joining.endpoint, .leave, Limit.call, now)] + finish(.impostor(key))
            }
        }
        let roster = admission.roster
        guard roster.room == info.room, roster.hostKey == key, roster[admission.member]?.key == signer.key else {
            return finish(.refused(.malformed("its roster is not that of the room and its host")))
        }
        self.joining = nil
        membership = Membership(
            me: admission.member, roster: roster, lastMember: roster.members.last?.id ?? admission.member,
            host: joining.endpoint, hostKey: key, needsPIN: info.needsPIN,
            lastHeard: now, isInStep: true, nextStream: now, nextUpdate: now.advanced(bySeconds: Limit.update))
        if joining.unsent != MemberUpdate() {
            membership?.unsent = joining.unsent
            membership?.nextUpdate = now
        }
        if let entry = roster[admission.member] { withdrawConsent(in: entry, now) }
        return [.note(key, as: info.hostName), .notify(.admitted(roster, as: admission.member))] + stayIn(now)
    }

    /// Leaves the room, or cancels the request to join.
    mutating func leave(_ now: HostTime) -> [Action] {
        guard ending == nil else { return [] }
        var actions: [Action] = []
        if let membership, seeking == nil {
            actions = [call(.leave, membership.host, .leave, Limit.call, now)]
        } else if let joining, calls.values.contains(where: { $0.purpose == .ask }) {
            actions = [call(.leave, joining.endpoint, .leave, Limit.call, now)]
        }
        return actions + finish(.left)
    }
}
