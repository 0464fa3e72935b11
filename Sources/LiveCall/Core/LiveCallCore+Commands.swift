// SPDX-License-Identifier: Apache-2.0

import EarshotAudioFiles
import EarshotMediaTransport
import EarshotNearby
import EarshotRooms

/// Commands of user interfaces.
extension LiveCallCore {
    /// The maximum bytes of a message.
    static let messageLimit = 65_536

    mutating func execute(_ command: LiveCallCommand, _ effects: PreparedEffects?) throws(CommandRefusal) {
        if let refusal = snapshot.refusal(of: command.kind) { throw refusal }
        switch command {
        case .host(let opening):
            var opening = opening
            opening.capacity = max(2, min(Roster.maximumNativeCount, opening.capacity))
            next.phase = .opening
            act(.room(.host(opening, next.admission)))
        case .join(let endpoint, let pin, let purpose):
            joining = (endpoint, purpose)
            next.phase = .joining(nil)
            act(.room(.join(endpoint, pin, purpose)))
        case .providePIN(let pin): provide(pin)
        case .admit(let id):
            try remove(request: id)
            act(.room(.decide(id, isAdmitted: true)))
        case .decline(let id):
            notify(.joinRequestWithdrawn(try remove(request: id), .declined))
            act(.room(.decide(id, isAdmitted: false)))
        case .blockRequest(let id):
            notify(.joinRequestWithdrawn(try remove(request: id), .blocked))
            act(.room(.blockRequest(id)))
        case .remove(let id):
            try require(id)
            act(.room(.remove(id)))
        case .block(let id):
            try require(id)
            act(.room(.block(id)))
        case .setAdmission(let policy):
            changeSetting(\.admission, to: policy, by: command)
            act(.room(.setAdmission(policy)))
        case .setMuted(let isMuted): setMuted(isMuted)
        case .rename(let name): act(.room(.notify(ParticipantNotice(name: name))))
        case .setVolume(let volume, let id):
            let volume = Self.clampedVolume(volume)
            try changeVolume(of: id, by: .setVolume(volume, of: id)) { $0.volume = volume }
        case .setHeard(let isHeard, let id): try setHeard(isHeard, of: id, by: command)
        case .setOutputVolume(let volume):
            let volume = Self.clampedVolume(volume)
            changeSetting(\.outputVolume, to: volume, by: .setOutputVolume(volume))
            act(.media(.setOutputVolume(next.outputVolume)))
        case .setLatencyProfile(let profile):
            changeSetting(\.latencyProfile, to: profile, by: command)
            act(.media(.setLatencyProfile(profile)))
        case .setCodec(let codec, let frame): try setCodec(codec, frameMilliseconds: frame)
        case .setDevice: break  // the call moves the sound; nothing changes here
        case .setVoiceProcessing(let mode): changeSetting(\.voiceProcessingMode, to: mode, by: command)
        case .setMonitor(let mode): changeSetting(\.monitorMode, to: mode, by: command)
        case .setPushToTalk(let isOn): setPushToTalk(isOn)
        case .setEffects: setEffects(effects)
        case .setEffectParameter(let name, let effect, let value): try setParameter(name, of: effect, to: value)
        case .setAccompaniment(let files): try setAccompaniment(files)
        case .controlAccompaniment(let control): try controlAccompaniment(control)
        case .startRecording(let folder): try startRecording(folder)
        case .stopRecording: try stopRecording()
        case .allowRecording(let isAllowed): allowRecording(isAllowed)
        case .say(let text): try say(text)
        case .sendFile(let path): sendFile(path)
        case .leave: end(.left)
        case .endRoom: end(.left, endsRoom: true)
        }
    }

    /// Returns the volume clamped to 0…8 (18 dB).
    static func clampedVolume(_ volume: Float) -> Float { max(0, min(8, volume.isFinite ? volume : 1)) }

    private mutating func provide(_ pin: PIN) {
        let isRetry = if case .wrong? = next.pinRequest { true } else { false }
        next.pinRequest = nil
        if isRetry, let joining {
            act(.room(.join(joining.endpoint, pin, joining.purpose)))
        } else {
            act(.room(.provide(pin)))
        }
    }

    @discardableResult
    private mutating func remove(request id: JoinRequestID) throws(CommandRefusal) -> JoinRequest {
        guard let index = requests.firstIndex(where: { $0.id == id }) else { throw .noJoinRequest }
        return requests.remove(at: index)
    }

    private func require(_ id: MemberID) throws(CommandRefusal) {
        guard next[id] != nil else { throw .noParticipant }
    }

    mutating func setMuted(_ isMuted: Bool) {
        guard isMuted != next.isMuted else { return }
        next.isMuted = isMuted
        act(.media(.setMuted(isMuted)))
        sendMuteNotice()
        notify(.muted(isMuted))
    }

    private mutating func say(_ text: String) throws(CommandRefusal) {
        guard !text.isEmpty else { throw .emptyMessage }
        guard text.utf8.count <= Self.messageLimit else { throw .messageTooLong(limit: Self.messageLimit) }
        let receivers = next.participants.filter(\.isNative)
        next.unsentMessageCount += receivers.count
        act(.say(text, to: receivers))
    }

    private mutating func sendFile(_ path: String) {
        let name = PathText.fileName(path)
        let transfer = FileTransfer(id: nextTransferID(), name: name, byteCount: 0, state: .sending)
        update(transfer)
        act(.sendFile(transfer, path: path, to: next.participants.filter(\.isNative)))
    }
}
