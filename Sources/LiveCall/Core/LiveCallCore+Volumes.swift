// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport
import EarshotNearby
import EarshotRooms

/// The volumes of the participants, which are remembered by their keys. A browser has no key and is not remembered.
extension LiveCallCore {
    /// The seconds from the last change of a volume to its storage, so that a key that is held down writes one file.
    static let volumeStorageDelay = 1.0

    /// The volumes that were set by hand, in this call and before.
    struct VolumeMemory: Sendable {
        var volumes = PeerVolumes()
        /// The changes that are not stored yet, the last one at the end.
        var unstored: [PeerVolumes.Entry] = []
        var changeTime = HostTime(nanoseconds: 0)
    }

    /// Changes the volume of a participant in the room, and remembers it.
    mutating func changeVolume(
        of id: MemberID, _ change: (inout PeerVolumes.Setting) -> Void
    ) throws(CommandRefusal) {
        guard let participant = next[id] else { throw .noParticipant }
        var setting = PeerVolumes.Setting(volume: participant.volume, isHeard: participant.isHeard)
        change(&setting)
        links[id, default: Link()].setting = setting
        act(.media(.setGain(setting.gain, of: id)))
        guard let key = participant.key else { return }
        volumeMemory.volumes[key] = setting
        volumeMemory.unstored.removeAll { $0.key == key }
        volumeMemory.unstored.append(PeerVolumes.Entry(key: key, setting: setting))
        volumeMemory.changeTime = now
    }

    /// Receives the volumes of earlier calls. A change in this call has priority.
    mutating func receive(_ volumes: PeerVolumes) {
        volumeMemory.volumes = volumes
        volumeMemory.volumes.apply(volumeMemory.unstored)
        restoreVolumes(of: roster?.members ?? [])
    }

    /// Sets the remembered volumes of members who joined or returned.
    mutating func restoreVolumes(of members: [Member]) {
        guard next.sound != .none else { return }
        for member in members where member.id != memberID {
            guard let key = member.key, let setting = volumeMemory.volumes[key],
                links[member.id]?.setting != setting
            else { continue }
            links[member.id, default: Link()].setting = setting
            act(.media(.setGain(setting.gain, of: member.id)))
        }
    }

    /// Stores the changed volumes, unless one changed within these last seconds.
    mutating func storeVolumes(unlessChangedWithin seconds: Double) {
        guard !volumeMemory.unstored.isEmpty, now.seconds(since: volumeMemory.changeTime) >= seconds else { return }
        act(.room(.storeVolumes(volumeMemory.unstored)))
        volumeMemory.unstored = []
    }
}
