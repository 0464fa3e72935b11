import AudioBase
import AudioDevices
import AudioSession
import Call
import MediaTransport
import Nearby
import Rooms

/// A running call, or a room without sound, for any number of faces: a terminal, a page, a program.
///
/// A face reads ``snapshot`` and ``levels``, listens to ``events(after:)``, and gives commands as values. All faces see the same
/// snapshots and events. The call is the only reader of its room's events and messages, and it owns the thread that has the
/// sound device. Members are for any thread but a render thread. Every call must be closed with ``close()``.
public final class LiveCall: Sendable {
    /// Events that ``events(after:)`` can repeat.
    public static let historyLimit = 1_000
    /// Milliseconds between two looks at media and device.
    private static let interval = 50

    /// The wishes of whoever made this call.
    public let configuration: Configuration
    let room: any LiveCallRoom
    let media: (any LiveCallMedia)?
    let device: (any LiveCallDevice)?

    let state: Guarded<State>
    private let newEvents = Broadcast<LiveCallEvent>()
    private let newSnapshots = Broadcast<LiveCallSnapshot>()
    private let roomActions: AsyncStream<LiveCallCore.RoomAction>.Continuation
    private let soundEnd: AsyncStream<Never>.Continuation
    private let thread = Guarded<ServiceThread?>(nil)
    private let tasks = Guarded<[Task<Void, Never>]>([])

    struct State {
        var core: LiveCallCore
        var history: [LiveCallEvent] = []
        var mediaActions: [LiveCallCore.MediaAction] = []
        var outboxes: [MemberID: MessageOutbox] = [:]
        /// The names of all who were in the room.
        var names: [MemberID: PeerName] = [:]
        var levels = LiveCallLevels()
        var records: [MemberID: ParticipantRecord] = [:]
    }

    /// Makes a call in no room yet.
    /// - Parameters:
    ///   - room: nobody else may read its events and arrivals.
    ///   - sound: the media that `room` negotiates, and the device it runs on; nil for messages and files only.
    /// - Throws: `NearbyError.noThread`.
    public init(
        _ configuration: Configuration, room: any LiveCallRoom,
        sound: (media: any LiveCallMedia, device: any LiveCallDevice)? = nil
    ) throws(NearbyError) {
        self.configuration = configuration
        self.room = room
        (media, device) = (sound?.media, sound?.device)
        let hasVoiceProcessing = sound?.media.voice?.canProcess ?? false
        state = Guarded(
            State(
                core: LiveCallCore(
                    configuration, hasSound: sound != nil, hasVoiceProcessing: hasVoiceProcessing)))
        let (actions, roomActions) = AsyncStream<LiveCallCore.RoomAction>.makeStream()
        self.roomActions = roomActions
        let (soundEnds, soundEnd) = AsyncStream<Never>.makeStream()
        self.soundEnd = soundEnd
        media?.setMuted(configuration.isMuted)
        try startThread()
        startTasks(actions, soundEnds)
    }

    private func startThread() throws(NearbyError) {
        let thread = ServiceThread(name: "live call", interval: Self.interval) { [weak self] in
            self?.work()
            return self != nil
        }
        guard thread.start() == 0 else { throw .noThread }
        self.thread.withLock { $0 = thread }
    }

    private func startTasks(_ actions: AsyncStream<LiveCallCore.RoomAction>, _ soundEnds: AsyncStream<Never>) {
        let (room, device) = (room, device)
        tasks.withLock { tasks in
            tasks = [
                Task { [weak self] in
                    for await action in actions {
                        if case .close = action { for await _ in soundEnds {} }
                        if let failure = await action.execute(in: room) { self?.handle(.roomFailed(failure)) }
                        if case .readJoinCodes = action { self?.handle(.joinCodes(await room.currentJoinCodes())) }
                        if case .close = action { return }
                    }
                },
                Task { [weak self] in for await event in room.events { self?.handle(.room(event)) } },
                Task { [weak self] in await self?.receiveArrivals() },
            ]
            guard let device else { return }
            tasks.append(
                Task { [weak self] in
                    for await (event, description) in device.events { self?.handle(.device(event, description)) }
                })
        }
    }

    // MARK: Faces

    /// The local participant's key.
    public var fingerprint: KeyFingerprint { room.fingerprint }

    /// The port of the room, TCP and UDP.
    public var port: UInt16 { room.port }

    /// The processing of the local voice; nil if there is none.
    public var voice: CallVoice? { media?.voice }

    /// The present state.
    public var snapshot: LiveCallSnapshot { state.withLock { $0.core.snapshot } }

    /// The present levels and statistics.
    public var levels: LiveCallLevels { state.withLock { $0.levels } }

    /// All participants whom there was media with, those who left included, in the order of joining.
    public var records: [ParticipantRecord] {
        state.withLock { state in state.records.sorted { $0.key < $1.key }.map(\.value) }
    }

    /// Executes a command, or refuses it without a change. It does not wait for what the command causes.
    public func perform(_ command: LiveCallCommand) throws(CommandRefusal) {
        try process { state, now throws(CommandRefusal) in
            if case .say = command, state.outboxes.values.contains(where: { $0.isFull() }) { throw .messagesWaiting }
            return try state.core.perform(command, at: now)
        }
    }

    /// The events from a number on, then each new one. Ends after ``LiveCallEvent/Kind/ended(_:)`` if the stream is not cancelled
    /// before. Unread events are kept.
    /// - Parameter number: the last event that the face knows; 0 for none. At most ``historyLimit`` older ones are repeated.
    public func events(after number: UInt64 = 0) -> AsyncStream<LiveCallEvent> {
        state.withLock { state in
            let known = state.history.filter { $0.number > number }
            let (stream, continuation) = AsyncStream<LiveCallEvent>.makeStream()
            for event in known { continuation.yield(event) }
            if case .ended? = state.history.last?.kind {
                continuation.finish()
                return stream
            }
            // No event falls between: new ones are sent under the same lock.
            let new = newEvents.stream()
            let forward = Task {
                for await event in new {
                    continuation.yield(event)
                    if case .ended = event.kind { break }
                }
                continuation.finish()
            }
            continuation.onTermination = { _ in forward.cancel() }
            return stream
        }
    }

    /// The events that happened after that number, at most ``historyLimit``. For faces that look at a call regularly.
    public func pastEvents(after number: UInt64) -> [LiveCallEvent] {
        state.withLock { state in
            guard let last = state.history.last, last.number > number else { return [] }
            return state.history.filter { $0.number > number }
        }
    }

    /// The present snapshot, then each new one. A slow reader gets the latest.
    public func snapshots() -> AsyncStream<LiveCallSnapshot> {
        state.withLock { newSnapshots.stream(keeping: 1, startingWith: $0.core.snapshot) }
    }

    /// Leaves the room if the call is in one, and closes room and device. Returns when both are closed.
    public func close() async {
        try? perform(.leave)
        let tasks = tasks.withLock { tasks in
            defer { tasks = [] }
            return tasks
        }
        guard !tasks.isEmpty else { return }
        await tasks[0].value
        for task in tasks.dropFirst() { task.cancel() }
        roomActions.finish()
        thread.withLock { $0 }?.stop()
        device?.close()
        for task in tasks { await task.value }
    }

    // MARK: The core

    func handle(_ event: LiveCallCore.Event) {
        process { state, now in state.core.handle(event, at: now) }
    }

    /// Runs the core, and executes its actions in their order.
    func process<Failure: Error>(
        _ body: (inout State, HostTime) throws(Failure) -> [LiveCallCore.Action]
    ) throws(Failure) {
        let wakes = try state.withLock { state throws(Failure) -> Bool in
            let revision = state.core.snapshot.revision
            let actions = try body(&state, .now())
            for action in actions { execute(action, &state) }
            if state.core.snapshot.revision != revision { newSnapshots.send(state.core.snapshot) }
            return !state.mediaActions.isEmpty
        }
        if wakes { thread.withLock { $0 }?.handle.wake() }
    }

    private func execute(_ action: LiveCallCore.Action, _ state: inout State) {
        switch action {
        case .room(let action): roomActions.yield(action)
        case .media(let action): state.mediaActions.append(action)
        case .tell(let event):
            if state.history.count == Self.historyLimit { state.history.removeFirst() }
            state.history.append(event)
            newEvents.send(event)
            note(event, &state)
        case .say(let text, let participants):
            for participant in participants { outbox(to: participant.id, &state).enqueue(text) }
        case .sendFile(let transfer, let path, let participants): sendInBackground(transfer, path, participants)
        }
    }

    /// Notes the names of participants, and the times at which they left.
    private func note(_ event: LiveCallEvent, _ state: inout State) {
        switch event.kind {
        case .participantLeft(let participant, _):
            guard case .running(let since) = state.core.snapshot.sound else { return }
            state.records[participant.id]?.leftAfter = event.time.seconds(since: since)
        default: break
        }
        for participant in state.core.snapshot.participants { state.names[participant.id] = participant.name }
    }

    // MARK: The thread

    private func work() {
        for action in state.withLock({ state in
            defer { state.mediaActions = [] }
            return state.mediaActions
        }) { execute(action) }
        observe()
    }

    private func execute(_ action: LiveCallCore.MediaAction) {
        switch action {
        case .start: startSound()
        case .stop:
            media?.stop()
            soundEnd.finish()
        case .setMuted(let isMuted): media?.setMuted(isMuted)
        case .setVolume(let volume, let id): media?.setGain(volume, of: PeerID(Int(id.number)))
        case .setVoiceProcessing(let isOn): media?.voice?.setProcessing(isOn)
        }
    }

    private func startSound() {
        guard let media, let device else { return }
        do { try device.prepare() } catch { return handle(.soundFailed(.notPrepared)) }
        do throws(AudioDeviceError) { try media.start() } catch { return handle(.soundFailed(.device(error))) }
        let effects = media.voice?.effects.map { CallEffectsDescription(names: $0.names, latency: $0.latency) }
        handle(.soundStarted(device.description, effects))
    }

    private func observe() {
        let snapshot = snapshot
        guard snapshot.ending == nil else { return }
        var observation = LiveCallCore.Observation()
        var levels = LiveCallLevels()
        if let media {
            levels.own = media.levels
            for participant in snapshot.participants {
                guard let statistics = media.statistics(of: PeerID(Int(participant.id.number))) else { continue }
                levels.participants[participant.id] = statistics
                observation.calls[participant.id] = .init(
                    format: statistics.configuration, rate: statistics.media.rate)
            }
            if case .running = snapshot.sound, let device { observe(media, device, &observation, levels) }
        }
        record(levels, snapshot)
        handle(.observation(observation))
    }

    private func observe(
        _ media: any LiveCallMedia, _ device: any LiveCallDevice, _ observation: inout LiveCallCore.Observation,
        _ levels: LiveCallLevels
    ) {
        device.update()
        media.followDevice()
        observation.failure = media.failure
        observation.microphone = levels.own.microphone
        observation.device = device.description
        observation.hardwareBlockFrameCount = device.hardwareBlockFrameCount
        observation.interruption = device.interruption
        if let voice = media.voice, voice.canProcess {
            observation.voice = .init(
                processing: voice.processing, channelCount: media.channelCount,
                maximumBlockFrameCount: voice.blockFrameCount, latency: voice.processingLatency)
        }
    }

    private func record(_ levels: LiveCallLevels, _ snapshot: LiveCallSnapshot) {
        let now = HostTime.now()
        let reports = levels.participants.keys.reduce(into: [MemberID: MediaPortReport]()) {
            $0[$1] = room.transportReport(of: $1)
        }
        state.withLock { state in
            state.levels = levels
            for participant in snapshot.participants {
                guard let statistics = levels.participants[participant.id] else { continue }
                var record =
                    state.records[participant.id] ?? ParticipantRecord(participant: participant, statistics: statistics)
                record.participant = participant
                record.statistics = statistics
                let report = reports[participant.id]
                record.transport = report ?? record.transport
                record.pair = report?.pair ?? record.pair
                if record.heardSince == nil, statistics.playout.isStarted { record.heardSince = now }
                record.heardSeconds = record.heardSince.map { now.seconds(since: $0) } ?? 0
                state.records[participant.id] = record
            }
        }
    }
}

extension LiveCallCore.RoomAction {
    /// Returns the error of opening or joining a room.
    fileprivate func execute(in room: any LiveCallRoom) async -> NearbyError? {
        do throws(NearbyError) {
            switch self {
            case .host(let opening, let admission): try await room.host(opening, admission: admission)
            case .join(let endpoint, let pin, let purpose): try await room.join(endpoint, pin: pin, purpose: purpose)
            case .provide(let pin): await room.provide(pin)
            case .decide(let id, let isAdmitted): await room.decide(id, isAdmitted: isAdmitted)
            case .blockRequest(let id): await room.blockRequest(id)
            case .remove(let id): await room.remove(id)
            case .block(let id): await room.blockParticipant(id)
            case .setAdmission(let policy): await room.setAdmission(policy)
            case .tell(let name, let isMuted): await room.tell(name: name, isMuted: isMuted)
            case .readJoinCodes: break
            case .close(let endsRoom): await room.close(endsRoom: endsRoom)
            }
            return nil
        } catch {
            return error
        }
    }
}
