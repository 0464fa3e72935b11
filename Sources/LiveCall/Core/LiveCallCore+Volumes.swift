// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport
import EarshotNearby
import EarshotRooms

/// The volumes of the participants. A key has one volume in all calls; the volume of a browser, which has no key, ends when it
/// leaves.
extension LiveCallCore {
    /// The seconds from the last change of a volume to its storage, so that a key that is held down writes one file.
    static let volumeStorageDelay = 1.0

    struct VolumeMemory: Sendable {
        /// The volumes of keys, set in this call and before.
        var volumes = PeerVolumes()
        /// The volumes of browsers in the room.
        var browsers: [MemberID: PeerVolumes.Setting] = [:]
        /// The gains that were set, also of members who have left; a missing one is 1.
        var gains: [MemberID: Float] = [:]
        /// The changes that are not stored yet, the last one at the end.
        var unstored: [PeerVolumes.Entry] = []
        var changeTime = HostTime(nanoseconds: 0)
        /// The singers in the same room, and those of them whom the user chose to hear over the network.
        var (nearby, heardNearby): (Set<MemberID>, Set<MemberID>) = ([], [])

        /// Returns true if a member is silent, because it is heard through the air.
        func isSilent(_ id: MemberID) -> Bool { nearby.contains(id) && !heardNearby.contains(id) }

        /// Returns the volume of a member.
        func setting(of id: MemberID, _ key: KeyFingerprint?) -> PeerVolumes.Setting {
            guard let key else { return browsers[id] ?? PeerVolumes.Setting() }
            return volumes[key] ?? PeerVolumes.Setting()
        }
    }

    /// Changes the volume of a participant in the room, remembers it, and reports it.
    /// - Parameter command: the command that sets the new value.
    mutating func changeVolume(
        of id: MemberID, by command: LiveCallCommand, _ change: (inout PeerVolumes.Setting) -> Void
    ) throws(CommandRefusal) {
        guard let participant = next[id] else { throw .noParticipant }
        let oldSetting = volumeMemory.setting(of: id, participant.key)
        var setting = oldSetting
        change(&setting)
        guard setting != oldSetting else { return }
        if let key = participant.key {
            volumeMemory.volumes[key] = setting
            volumeMemory.unstored.removeAll { $0.key == key }
            volumeMemory.unstored.append(PeerVolumes.Entry(key: key, setting: setting))
            volumeMemory.changeTime = now
        } else {
            volumeMemory.browsers[id] = setting
        }
        applyVolumes(to: roster?.members ?? [])
        reportSetting(command, of: id)
    }

    /// Lets the user hear a participant or not. One in the same room is heard, or silent, for this call only.
    mutating func setHeard(_ isHeard: Bool, of id: MemberID, by command: LiveCallCommand) throws(CommandRefusal) {
        guard volumeMemory.nearby.contains(id), let participant = next[id],
            volumeMemory.setting(of: id, participant.key).isHeard
        else { return try changeVolume(of: id, by: command) { $0.isHeard = isHeard } }
        guard isHeard == volumeMemory.isSilent(id) else { return }
        if isHeard { volumeMemory.heardNearby.insert(id) } else { volumeMemory.heardNearby.remove(id) }
        applyVolumes(to: roster?.members ?? [])
        reportSetting(command, of: id)
    }

    /// Silences the singers in the same room, who are heard through the air, and no others.
    mutating func silence(_ nearby: Set<MemberID>) {
        guard nearby != volumeMemory.nearby else { return }
        volumeMemory.nearby = nearby
        volumeMemory.heardNearby.formIntersection(nearby)
        applyVolumes(to: roster?.members ?? [])
    }

    /// Receives the volumes of earlier calls. A change in this call has priority.
    mutating func receive(_ volumes: PeerVolumes) {
        volumeMemory.volumes = volumes
        volumeMemory.volumes.apply(volumeMemory.unstored)
        applyVolumes(to: roster?.members ?? [])
    }

    /// Sets the volumes of members. After the room was divided, another person may have the number of a former one.
    mutating func applyVolumes(to members: [Member]) {
        guard next.sound != .none else { return }
        for member in members where member.id != memberID {
            let setting = volumeMemory.setting(of: member.id, member.key)
            if setting != links[member.id]?.setting ?? PeerVolumes.Setting() {
                links[member.id, default: Link()].setting = setting
            }
            let gain = volumeMemory.isSilent(member.id) ? 0 : setting.gain
            guard gain != volumeMemory.gains[member.id] ?? 1 else { continue }
            volumeMemory.gains[member.id] = gain
            act(.media(.setGain(gain, of: member.id)))
        }
    }

    /// Stores the changed volumes, unless one changed within these last seconds.
    mutating func storeVolumes(unlessChangedWithin seconds: Double) {
        guard !volumeMemory.unstored.isEmpty, now.seconds(since: volumeMemory.changeTime) >= seconds else { return }
        act(.room(.storeVolumes(volumeMemory.unstored)))
        volumeMemory.unstored = []
    }
}
