// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDevices
import EarshotAudioSession
import EarshotCall
import EarshotMediaTransport
import EarshotNearby
import EarshotPlayout
import EarshotRooms

/// The logic of a running call without a thread, a clock or a device: events, commands and time in, actions and a snapshot out.
///
/// `LiveCall` executes the actions. Equal inputs give equal outputs.
package struct LiveCallCore: Sendable {
    /// The seconds after which a lost host is reported. A host that leaves properly is replaced sooner.
    static let hostLossTolerance = 0.7
    /// The seconds after which a slow host is reported.
    static let hostAnswerTolerance = 2.0
    /// The least seconds between two reports of feedback.
    static let feedbackInterval = 10.0

    let configuration: LiveCall.Configuration
    package private(set) var snapshot: LiveCallSnapshot
    /// The snapshot that is being built.
    var next: LiveCallSnapshot

    var roster: Roster?
    var memberID: MemberID?
    /// The state of each remote participant besides the roster's.
    var links: [MemberID: Link] = [:]
    var requests: [JoinRequest] = []
    var joining: (endpoint: Endpoint, purpose: Purpose?)?
    var hostLost: (since: HostTime, isReported: Bool)?
    var hostAsked: (since: HostTime, isReported: Bool)?
    /// The damped feedback that was reported last: its number of tones, and when.
    var feedback: (count: Int, reported: HostTime?) = (0, nil)
    /// The host that was reported last.
    var reportedHost: MemberID?
    /// The departed participants, each reported once.
    var departed: Set<MemberID> = []
    /// The name of the participant who left last, if contact was lost before; nil if that participant left properly.
    var lostParticipant: PeerName?
    /// True once a remote participant was in the room.
    private var hasHadParticipants = false
    /// The event to send when the join codes are known; nil for none.
    var eventAfterJoinCodes: LiveCallEvent.Kind?
    private var transferCount: UInt64 = 0

    var volumeMemory = VolumeMemory()
    /// The last failure of the store that was reported.
    var reportedStoreFailure: NearbyStoreError?
    var monitorBasis: MonitorBasis?
    /// True if the media play the local voice.
    var isMonitored = false
    var pushToTalk = PushToTalk()
    var recording = Recording.idle
    /// The number of the last order for the accompaniment.
    var accompanimentOrder = 0
    /// The participants whose recording was reported.
    var reportedRecordings: Set<MemberID> = []
    /// True if the user was asked whether others may record the local voice, and somebody still records.
    var hasAskedForConsent = false

    /// True once the start of the sound was requested.
    private var isStarting = false
    /// True after the last event.
    private var isOver = false
    private var actions: [Action] = []
    private var eventCount: UInt64 = 0
    private(set) var now = HostTime(nanoseconds: 0)

    /// The state of a remote participant besides the roster's.
    struct Link: Sendable {
        var connection: TransportState?
        var format: CallConfiguration?
        var negotiationFailure: String?
        /// The failure that was reported last.
        var reportedFailure: String?
        /// The local and the remote formats if negotiation found no common format; otherwise nil.
        var mismatch: (local: [String], remote: [String])?
        /// The rate at the last reported step.
        var rate: RateState?
        /// The last reported step of the bit rate: 0 for the negotiated format, more for a lower bit rate, `.max` if even the
        /// lowest bit rate is too much for the link.
        var reportedStep = 0
        /// The volume in ``volumeMemory``.
        var setting = PeerVolumes.Setting()
        /// True if the call's beginning was reported.
        var hasBegun = false
        /// The codecs that the participant does not offer or did not choose.
        var missingCodecs: Set<Codec> = []
        /// The preferred codec that was reported as missing.
        var reportedCodec: Codec?
    }

    /// - Parameter latencyProfile: the call's initial latency profile; nil for a room with messages and files only.
    package init(
        _ configuration: LiveCall.Configuration, latencyProfile: LatencyProfile?, hasVoiceProcessing: Bool = false
    ) {
        self.configuration = configuration
        snapshot = LiveCallSnapshot(admission: configuration.admission, sound: latencyProfile == nil ? .none : .waiting)
        snapshot.latencyProfile = latencyProfile
        snapshot.voiceProcessingMode = configuration.voiceProcessing
        snapshot.monitorMode = configuration.monitor
        snapshot.isMuted = configuration.isMuted
        snapshot.hasVoiceProcessing = hasVoiceProcessing
        next = snapshot
    }

    /// Handles an event.
    package mutating func handle(_ event: Event, at now: HostTime) -> [Action] {
        self.now = now
        if next.ending != nil { handleAfterEnd(event) } else { handleEvent(event) }
        return finish()
    }

    /// Executes a command, or refuses it without a change.
    /// - Parameter effects: the effects that ``LiveCallCommand/setEffects(_:)`` asks for; nil for none.
    package mutating func perform(
        _ command: LiveCallCommand, effects: PreparedEffects? = nil, at now: HostTime
    ) throws(CommandRefusal) -> [Action] {
        self.now = now
        try execute(command, effects)
        return finish()
    }

    private mutating func handleEvent(_ event: Event) {
        switch event {
        case .room(let event): handleRoom(event)
        case .roomFailed(let error): end(.session(error))
        case .joinCodes(let codes): receiveJoinCodes(codes)
        case .volumes(let volumes): receive(volumes)
        case .soundStarted(let device):
            next.sound = .running(since: now)
            next.device = device
            notify(.soundStarted(device, next.effects))
        case .soundFailed(let ending): end(ending)
        case .device(let event, let device):
            if next.sound != .waiting { next.device = device }
            notify(.device(event, device))
        case .observation(let observation): observe(observation)
        case .recordingStarted, .recordingFailed, .recordingEnded: handleRecording(event)
        case .accompaniment(let report): receive(report)
        case .accompanimentFailed(let error): notify(.accompanimentFailed(error))
        case .duet(let status): notify(.duet(status))
        case .message, .unsentMessages, .messagesLost, .streamRefused, .transfer: handleTransfer(event)
        case .roomClosed: break
        }
    }

    /// Handles an event after the call's end: reports pending messages, files and recordings until the room is closed.
    private mutating func handleAfterEnd(_ event: Event) {
        guard !isOver else { return }
        switch event {
        case .message, .unsentMessages, .messagesLost, .streamRefused, .transfer: handleTransfer(event)
        case .recordingStarted, .recordingFailed, .recordingEnded: handleRecording(event)
        case .roomClosed:
            guard let ending = next.ending else { return }
            notify(.ended(ending))
            isOver = true
        case .room, .roomFailed, .joinCodes, .volumes, .soundStarted, .soundFailed, .device, .observation,
            .accompaniment, .accompanimentFailed, .duet:
            break
        }
    }

    /// Returns a number for a new transfer.
    package mutating func nextTransferID() -> UInt64 {
        transferCount += 1
        return transferCount
    }

    mutating func update(_ transfer: FileTransfer) {
        next.transfers.removeAll { $0.id == transfer.id }
        if !transfer.isOver { next.transfers.append(transfer) }
    }

    private mutating func handleTransfer(_ event: Event) {
        switch event {
        case .message(let message): notify(.messageReceived(message))
        case .unsentMessages(let count): next.unsentMessageCount = count
        case .messagesLost(let name, let count, let reason):
            notify(.messagesLost(to: name, count: count, reason: reason))
        case .streamRefused(let name, let stream): notify(.streamRefused(from: name, stream: stream))
        case .transfer(let transfer):
            update(transfer)
            notify(.transfer(transfer))
        default: break
        }
    }

    /// Ends the call once: stops the sound and leaves the room. The event of the end follows when the room is closed.
    mutating func end(_ ending: LiveCallEnding, endsRoom: Bool = false) {
        guard next.ending == nil else { return }
        next.phase = .ended(ending)
        if case .running(let since) = next.sound { next.sound = .stopped(after: now.seconds(since: since)) }
        requests = []
        hostLost = nil
        hostAsked = nil
        next.pinRequest = nil
        if case .awaited = recording { recording = .idle }
        act(.media(.stop))
        storeVolumes(unlessChangedWithin: 0)
        act(.room(.close(endsRoom: endsRoom)))
    }

    mutating func act(_ action: Action) { actions.append(action) }

    mutating func notify(_ kind: LiveCallEvent.Kind) {
        eventCount += 1
        act(.notify(LiveCallEvent(number: eventCount, time: now, kind: kind)))
    }

    /// Updates the snapshot. Returns the collected actions.
    private mutating func finish() -> [Action] {
        startOrEnd()
        updateParticipants()
        startAwaitedRecording()
        reportRecordings()
        next.isRecordingAwaited = recording != .idle && next.recording == nil
        if next != snapshot {
            next.revision += 1
            snapshot = next
        }
        defer { actions = [] }
        return actions
    }

    private mutating func startOrEnd() {
        guard next.isInRoom, let memberID, let roster else { return }
        let isAlone = !roster.members.contains { $0.id != memberID }
        if !isAlone { hasHadParticipants = true }
        if !isAlone, next.sound == .waiting, !isStarting {
            isStarting = true
            act(.media(.start))
        }
        if isAlone, hasHadParticipants, !configuration.staysAlone {
            return end(lostParticipant.map { .lastParticipantLost($0) } ?? .alone)
        }
        guard roster.host != memberID, next.sound != .none else { return }
        endWithoutCommonFormat(roster.members.filter { $0.id != memberID })
    }

    /// Ends the call if there is no common format with any other participant. Media that already runs survives a failed
    /// renegotiation.
    private mutating func endWithoutCommonFormat(_ others: [Member]) {
        let mismatches = others.compactMap { links[$0.id]?.format == nil ? links[$0.id]?.mismatch : nil }
        guard let first = mismatches.first, mismatches.count == others.count else { return }
        end(.noCommonFormat(local: first.local, remote: first.remote))
    }

    private mutating func updateParticipants() {
        next.joinRequests = requests
        next.isHostLost = hostLost?.isReported ?? false
        guard let roster, let memberID else { return }
        next.room = LiveCallSnapshot.Room(name: roster.name, id: roster.room, epoch: roster.epoch)
        next.localParticipant = roster[memberID].map { Participant($0, isHost: roster.host == memberID) }
        next.localParticipant?.isMuted = next.isMuted
        next.localParticipant?.isRecording = next.recording != nil
        next.localParticipant?.allowsRecording = next.allowsRecording
        next.participants = roster.members.filter { $0.id != memberID }.map { participant($0) }
    }

    func participant(_ member: Member) -> Participant {
        var participant = Participant(member, isHost: roster?.host == member.id)
        participant.isHeard = !volumeMemory.isSilent(member.id)
        guard let link = links[member.id] else { return participant }
        participant.connection = link.connection
        participant.format = link.format
        participant.negotiationFailure = link.negotiationFailure
        participant.reducedRate = link.reportedStep == 0 ? nil : link.rate
        participant.volume = link.setting.volume
        if !link.setting.isHeard { participant.isHeard = false }
        return participant
    }
}
