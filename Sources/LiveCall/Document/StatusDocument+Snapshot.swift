// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDevices
import EarshotCall
import EarshotPlayout
import EarshotRooms
import Foundation

extension StatusDocument {
    /// - Parameters:
    ///   - lastEvent: the number of the last event before `snapshot`.
    ///   - program: the version of the program that has the call.
    ///   - now: the present time, up to which running times are counted.
    package init(
        _ snapshot: LiveCallSnapshot, _ levels: LiveCallLevels, duet: LiveDuetStatus? = nil, lastEvent: UInt64,
        program: String, pid: Int32, now: HostTime = .now()
    ) {
        `protocol` = CallSocket.version
        earshot = program
        self.pid = pid
        revision = snapshot.revision
        self.lastEvent = lastEvent
        phase = Self.name(snapshot.phase)
        ending = snapshot.ending.map { ErrorDocument($0) }
        room = Self.room(snapshot)
        localParticipant = snapshot.localParticipant.map { ParticipantDocument($0) }
        participants = snapshot.participants.map { ParticipantDocument($0, levels.participants[$0.id]) }
        joinRequests = snapshot.joinRequests.map { JoinRequestDocument($0) }
        admission = snapshot.admission.rawValue
        isPINRequested = snapshot.pinRequest != nil
        joinCodes = snapshot.joinCodes.map(\.description)
        discovery = snapshot.discovery.map { DiscoveryDocument($0) }
        isHostLost = snapshot.isHostLost
        isMuted = snapshot.isMuted
        sound = Sound(snapshot.sound, now: now)
        dial = snapshot.latencyProfile?.description
        preferredCodec = snapshot.preferredCodec?.rawValue
        frameMs = snapshot.packetMilliseconds
        outputVolume = snapshot.outputVolume
        device = snapshot.device.map { DeviceDocument($0) }
        interruption = snapshot.interruption.map { ErrorDocument($0) }
        microphone = "\(snapshot.microphone)"
        peak = levels.own.spokenPeak.isFinite ? levels.own.spokenPeak : 0
        isSpeaking = levels.own.isSpeaking
        if snapshot.hasVoiceProcessing {
            voiceProcessing = VoiceProcessingDocument(snapshot.voiceProcessing, mode: snapshot.voiceProcessingMode)
        }
        if snapshot.sound != .none {
            monitor = MonitorDocument(snapshot.monitor, mode: snapshot.monitorMode, delay: snapshot.monitorDelay)
            isPushToTalk = snapshot.isPushToTalk
        }
        effects = snapshot.effects.map { EffectsDocument($0) }
        accompaniment = snapshot.accompaniment.map { AccompanimentDocument($0, at: now) }
        self.duet = duet.map { DuetDocument($0) }
        recording = snapshot.recording.map {
            RecordingDocument(folder: $0.folder, seconds: max(0, now.seconds(since: $0.since)))
        }
        isRecordingAwaited = snapshot.isRecordingAwaited
        allowsRecording = snapshot.allowsRecording
        isRecordingConsentRequested = snapshot.isRecordingConsentRequested
        unsentMessageCount = snapshot.unsentMessageCount
        transfers = snapshot.transfers.map { TransferDocument($0) }
    }

    private static func name(_ phase: LiveCallSnapshot.Phase) -> String {
        switch phase {
        case .idle: "idle"
        case .opening: "opening"
        case .joining: "joining"
        case .inRoom: "inRoom"
        case .ended: "ended"
        }
    }

    private static func room(_ snapshot: LiveCallSnapshot) -> RoomDocument? {
        if case .joining(let info?) = snapshot.phase { return RoomDocument(info) }
        return snapshot.room.map { RoomDocument($0) }
    }
}

extension StatusDocument.Sound {
    init(_ sound: LiveCallSnapshot.Sound, now: HostTime) {
        switch sound {
        case .none: self.init(state: "none")
        case .waiting: self.init(state: "waiting")
        case .running(let since): self.init(state: "running", seconds: max(0, now.seconds(since: since)))
        case .stopped(let seconds): self.init(state: "stopped", seconds: seconds)
        }
    }
}

extension LiveCall {
    /// The number of the last event; 0 before the first.
    package var lastEventNumber: UInt64 { state.withLock { $0.history.last?.number ?? 0 } }

    /// Returns the current state and levels. ``events(after:)`` with the document's `lastEvent` continues without a gap.
    /// - Parameter program: the version of the program that has the call.
    package func status(program: String) -> StatusDocument {
        let (snapshot, levels, number) = state.withLock {
            ($0.core.snapshot, $0.levels, $0.history.last?.number ?? 0)
        }
        return StatusDocument(
            snapshot, levels, duet: duetStatus, lastEvent: number, program: program,
            pid: ProcessInfo.processInfo.processIdentifier)
    }
}
