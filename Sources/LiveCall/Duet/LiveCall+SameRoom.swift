// SPDX-License-Identifier: Apache-2.0

import EarshotAudioSession
import EarshotCall
import EarshotDuet
import EarshotMediaTransport
import EarshotRooms

/// The search for singers in the same room.
struct RoomListening {
    var listener: SameRoomListener?
    /// True while the media copy sound for the listener.
    var isOn = false
}

/// Looks for singers in the same room. On the call's thread.
extension LiveCall {
    /// Compares the microphone with the singers' voices while no song plays: two loudspeakers with one song would sound like one room.
    func listenToRoom(_ snapshot: LiveCallSnapshot) {
        guard let media, let device = snapshot.device, !device.hasSeparateInput else { return }
        let captureDelay = device.inputLatency + media.voiceLatency
        let hasLoudspeaker = device.route.output?.form == .speaker
        let isAccompanied = snapshot.accompaniment != nil
        let delays = duet.withLock { duet -> [PeerID: Double] in
            duet.core?.setSound(captureDelay: captureDelay, hasLoudspeaker: hasLoudspeaker)
            guard let core = duet.core, !isAccompanied, core.status(at: .now()).isQuiet else { return [:] }
            return core.captureDelays.reduce(into: [:]) { $0[PeerID(Int($1.key.number))] = $1.value }
        }
        let present = Set(snapshot.participants.map { PeerID(Int($0.id.number)) })
        let heard = listening.withLock { listening -> Set<PeerID> in
            let isOn = !delays.isEmpty
            if isOn != listening.isOn {
                media.setListening(isOn)
                listening.listener?.pause()
                listening.isOn = isOn
            }
            guard isOn else { return listening.listener?.nearbyPeers ?? [] }
            var listener = listening.listener ?? SameRoomListener(sampleRate: media.voiceFormat.sampleRate)
            listener.keep(present)
            media.feed(&listener, captureDelays: delays)
            listening.listener = listener
            return listener.nearbyPeers
        }
        duet.withLock { $0.core?.setHeardInRoom(Set(heard.compactMap { MemberID(UInt64($0.rawValue)) })) }
    }

    /// Silences the song if another loudspeaker in the room plays it for this singer too. Returns the singers in the same room.
    func shareLoudspeaker(_ snapshot: LiveCallSnapshot) -> Set<MemberID> {
        duet.withLock { duet in
            guard let core = duet.core else { return [] }
            let nearby = Set(core.status(at: .now()).singers.filter(\.isNearby).map(\.member))
            // A singer whom the user wants to hear over the network counts as one in another room.
            let silent = nearby.filter { snapshot[$0]?.isHeard == false }
            duet.isSongElsewhere = core.isSongElsewhere(silent)
            duet.player?.setAudible(!duet.isSongElsewhere)
            return nearby
        }
    }
}
