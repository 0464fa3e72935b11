// SPDX-License-Identifier: Apache-2.0

import EarshotCall
import EarshotMediaTransport
import EarshotPlayout
import EarshotRooms

@testable import EarshotLiveCall

/// A user interface that reads one snapshot, and after that events alone.
struct EventFace {
    /// The state of a participant that events tell.
    struct Person: Hashable {
        var name: PeerName
        var isMuted: Bool
        var isAway: Bool
        var isRecording: Bool
        var allowsRecording: Bool?
        var volume: Float
        var isHeard: Bool
        /// The codec and the frames of a packet; nil before the first format.
        var format: String?

        init(_ participant: Participant) {
            name = participant.name
            isMuted = participant.isMuted
            isAway = participant.isAway
            isRecording = participant.isRecording
            allowsRecording = participant.allowsRecording
            volume = participant.volume
            isHeard = participant.isHeard
            format = participant.format.map { Self.text($0) }
        }

        static func text(_ format: CallConfiguration) -> String { "\(format.codec) \(format.framesPerPacket)" }
    }

    /// The state of the call that events tell.
    struct State: Hashable {
        var ownName: PeerName?
        var people: [MemberID: Person]
        var isMuted: Bool
        var allowsRecording: Bool?
        var outputVolume: Float
        var latencyProfile: LatencyProfile?
        var voiceProcessingMode: VoiceProcessingMode
        var voiceProcessing: VoiceProcessingState?
        var preferredCodec: Codec?
        var packetMilliseconds: Double?
        var monitorMode: MonitorMode
        var isMonitored: Bool
        var isPushToTalk: Bool
        var effects: CallEffectsDescription?
        /// Without its clock, which runs without events.
        var accompaniment: AccompanimentStatus?
        var recordingFolder: String?
        var deviceName: String?
        var isOver: Bool

        init(_ snapshot: LiveCallSnapshot) {
            ownName = snapshot.localParticipant?.name
            people = Dictionary(uniqueKeysWithValues: snapshot.participants.map { ($0.id, Person($0)) })
            isMuted = snapshot.isMuted
            allowsRecording = snapshot.allowsRecording
            outputVolume = snapshot.outputVolume
            latencyProfile = snapshot.latencyProfile
            voiceProcessingMode = snapshot.voiceProcessingMode
            voiceProcessing = snapshot.voiceProcessing
            preferredCodec = snapshot.preferredCodec
            packetMilliseconds = snapshot.packetMilliseconds
            monitorMode = snapshot.monitorMode
            isMonitored = snapshot.monitor?.isOn ?? false
            isPushToTalk = snapshot.isPushToTalk
            effects = snapshot.effects
            accompaniment = snapshot.accompaniment?.withoutClock
            recordingFolder = snapshot.recording?.folder
            deviceName = snapshot.device?.name
            isOver = snapshot.ending != nil
        }

        /// Returns the differences from another state, as text.
        func differences(from other: State) -> [String] {
            zip(Mirror(reflecting: self).children, Mirror(reflecting: other).children).compactMap { one, other in
                let (one, other) = ("\(one.label ?? ""): \(one.value)", "\(other.value)")
                return one.hasSuffix(other) ? nil : "\(one), not \(other)"
            }
        }
    }

    private(set) var state: State
    private let localID: MemberID?
    /// The number of the last event; nil before the first.
    private var lastEvent: UInt64?
    /// The events that did not follow their predecessors.
    private(set) var missedEvents = 0
    /// The changed settings that this face does not know.
    private(set) var unknownSettings: [String] = []

    init(_ snapshot: LiveCallSnapshot) {
        state = State(snapshot)
        localID = snapshot.localParticipant?.id
    }

    mutating func follow(_ event: LiveCallEvent) {
        if let lastEvent, event.number != lastEvent + 1 { missedEvents += 1 }
        lastEvent = event.number
        switch event.kind {
        case .participantRenamed(let participant, _) where participant.id == localID: state.ownName = participant.name
        case .participantJoined(let participant), .participantRenamed(let participant, _),
            .participantMuted(let participant), .participantAway(let participant),
            .participantRecording(let participant),
            .recordingConsent(let participant):
            state.people[participant.id] = Person(participant)
        case .participantLeft(let participant, _): state.people[participant.id] = nil
        case .settingChanged(let command, _): follow(command)
        case .muted(let isMuted): state.isMuted = isMuted
        case .voiceProcessing(let voiceProcessing): state.voiceProcessing = voiceProcessing
        case .callBegan(let participant, let format), .formatChanged(let participant, let format):
            state.people[participant.id]?.format = Person.text(format)
        case .monitor(let choice): state.isMonitored = choice.isOn
        case .effects(let effects): state.effects = effects
        case .accompaniment(let status): state.accompaniment = status?.withoutClock
        case .soundStarted(let device, _), .device(_, let device): state.deviceName = device.name
        case .recordingStarted(let folder): state.recordingFolder = folder
        case .recordingEnded: state.recordingFolder = nil
        case .ended: state.isOver = true
        default: break
        }
    }

    /// Sets the value that a command has set.
    private mutating func follow(_ command: LiveCallCommand) {
        switch command {
        case .setVolume(let volume, let id): state.people[id]?.volume = volume
        case .setHeard(let isHeard, let id): state.people[id]?.isHeard = isHeard
        case .setOutputVolume(let volume): state.outputVolume = volume
        case .setLatencyProfile(let profile): state.latencyProfile = profile
        case .setVoiceProcessing(let mode): state.voiceProcessingMode = mode
        case .setCodec(let codec, let milliseconds):
            (state.preferredCodec, state.packetMilliseconds) = (codec, milliseconds)
        case .setMonitor(let mode): state.monitorMode = mode
        case .setPushToTalk(let isOn): state.isPushToTalk = isOn
        case .allowRecording(let isAllowed): state.allowsRecording = isAllowed
        default: unknownSettings.append("\(command)")
        }
    }
}
