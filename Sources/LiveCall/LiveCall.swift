// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDevices
import EarshotAudioSession
import EarshotCall
import EarshotDuet
import EarshotMediaTransport
import EarshotNearby
import EarshotRooms
import Synchronization

/// A running call, or a room without sound, for any number of user interfaces: a terminal, a page, a program.
///
/// An interface reads ``snapshot`` and ``levels``, listens to ``events(after:)``, and gives commands as values. All interfaces
/// get the same snapshots and events. The call is the only reader of its room's events and messages, and it owns the thread that
/// has the sound device. Members are for any thread except a render thread. Every call must be closed with ``close()``.
public final class LiveCall: Sendable {
    /// The maximum events that ``events(after:)`` repeats, and keeps for a slow reader.
    package static let historyLimit = 1_000
    /// The maximum total bytes of messages that ``events(after:)`` repeats.
    package static let historyByteLimit = 4 << 20
    /// The milliseconds between two observations of media and device.
    private static let interval = 50

    /// The configuration of this call.
    public let configuration: Configuration
    let room: any LiveCallRoom
    let media: (any LiveCallMedia)?
    let device: (any LiveCallDevice)?

    let state: LockedValue<State>
    private let newEvents = Broadcast<LiveCallEvent>()
    private let newSnapshots = Broadcast<LiveCallSnapshot>()
    private let roomActions: AsyncStream<LiveCallCore.RoomAction>.Continuation
    let soundEnd: AsyncStream<Never>.Continuation
    let recorder = LockedValue<CallRecorder?>(nil)
    /// The present effects. Only the call's thread changes them.
    let effects = LockedValue<PreparedEffects?>(nil)
    let player = LockedValue<AccompanimentPlayer?>(nil)
    /// The song that is played at ordered instants. Its lock is taken before that of `recorder`.
    let song = LockedValue<SongPlayer?>(nil)
    /// The duet. Its lock is taken before that of `song`, and never together with that of `state`.
    let duet = LockedValue(LiveDuet())
    let duetFiles = DuetFiles()
    /// The search for singers in the same room. Only the call's thread uses it.
    let listening = Mutex(RoomListening())
    private let thread = LockedValue<ServiceThread?>(nil)
    private let tasks = LockedValue<[Task<Void, Never>]>([])
    private let closing = LockedValue<Task<Void, Never>?>(nil)

    struct State {
        var core: LiveCallCore
        var history: [LiveCallEvent] = []
        var historyByteCount = 0
        /// The number of the last event that a polling interface has read; nil if no interface has polled.
        var lastPolledEvent: UInt64?
        var mediaActions: [LiveCallCore.MediaAction] = []
        var outboxes: [MemberID: MessageOutbox] = [:]
        /// The names of all current and departed participants.
        var names: [MemberID: PeerName] = [:]
        var levels = LiveCallLevels()
        var records: [MemberID: ParticipantRecord] = [:]
    }

    /// Creates a call that is in no room yet.
    /// - Parameters:
    ///   - room: the room's session. Its events and arrivals must have no other reader.
    ///   - sound: the media that `room` negotiates, and its device; nil for messages and files only.
    /// - Throws: `NearbyError.noThread`.
    package init(
        _ configuration: Configuration, room: any LiveCallRoom,
        sound: (media: any LiveCallMedia, device: any LiveCallDevice)? = nil
    ) throws(NearbyError) {
        self.configuration = configuration
        self.room = room
        (media, device) = (sound?.media, sound?.device)
        let hasVoiceProcessing = sound?.media.voice?.canProcess ?? false
        state = LockedValue(
            State(
                core: LiveCallCore(
                    configuration, latencyProfile: sound?.media.latencyProfile, hasVoiceProcessing: hasVoiceProcessing))
        )
        let (actions, roomActions) = AsyncStream<LiveCallCore.RoomAction>.makeStream()
        self.roomActions = roomActions
        let (soundEnds, soundEnd) = AsyncStream<Never>.makeStream()
        self.soundEnd = soundEnd
        media?.setMuted(configuration.isMuted)
        do throws(NearbyError) {
            try startThread()
        } catch {
            Task { await room.close(endsRoom: false) }
            throw error
        }
        startTasks(actions, soundEnds)
    }

    /// Ends a call that was not closed. Its room and device are closed in the background.
    deinit {
        let tasks = tasks.withLock { $0 }
        guard !tasks.isEmpty else { return }
        thread.withLock { $0 }?.stop()
        finishAccompaniment()
        closeSong()
        media?.stop()
        finishRecording()?.tagFiles()
        soundEnd.finish()
        roomActions.finish()
        for task in tasks { task.cancel() }
        let (room, device) = (room, device)
        Task {
            await room.close(endsRoom: false)
            device?.close()
        }
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
        let (room, device, hasSound) = (room, device, media != nil)
        let arrivals = Task { [weak self] in await Self.receiveArrivals(of: room) { [weak self] in self } }
        tasks.withLock { tasks in
            tasks = [
                Task { [weak self] in
                    if hasSound { self?.handle(.volumes(await room.rememberedVolumes)) }
                    for await action in actions {
                        if case .close = action { for await _ in soundEnds {} }
                        if let failure = await action.execute(in: room) { self?.handle(.roomFailed(failure)) }
                        if case .readJoinCodes = action { self?.handle(.joinCodes(await room.joinCodes)) }
                        guard case .close = action else { continue }
                        await arrivals.value
                        self?.handle(.roomClosed)
                        return
                    }
                },
                Task { [weak self] in for await event in room.events { self?.handle(.room(event)) } },
                Task { [weak self] in for await datagram in room.datagrams { self?.receiveDuet(datagram) } },
                arrivals,
            ]
            guard let device else { return }
            tasks.append(
                Task { [weak self] in
                    for await event in device.events { self?.handle(.device(event, device.description)) }
                })
        }
    }

    // MARK: User interfaces

    /// The fingerprint of the local participant's key.
    public var fingerprint: KeyFingerprint { room.fingerprint }

    /// The local port of the room, for TCP and UDP.
    public var port: UInt16 { room.port }

    /// The processing of the local voice; nil if there is none.
    package var voice: CallVoice? { media?.voice }

    /// The current state.
    public var snapshot: LiveCallSnapshot { state.withLock { $0.core.snapshot } }

    /// The current levels and statistics.
    public var levels: LiveCallLevels { state.withLock { $0.levels } }

    /// All participants with media so far, including departed ones, in the order of joining.
    package var records: [ParticipantRecord] {
        state.withLock { state in state.records.sorted { $0.key < $1.key }.map(\.value) }
    }

    /// Returns the name of a participant, also of a departed one; nil for an unknown number.
    package func name(of id: MemberID) -> PeerName? { state.withLock { $0.names[id] } }

    /// Executes a command, or refuses it without a change. Does not wait until the command has taken effect, but may wait for
    /// the disk when a recording is to start, and a second for the plug-ins of ``LiveCallCommand/setEffects(_:)``.
    public func perform(_ command: LiveCallCommand) throws(CommandRefusal) {
        try checkRecordingFolder(of: command)
        let effects = try prepareEffects(for: command)
        try process { state, now throws(CommandRefusal) in
            if case .say = command, state.core.snapshot.availability(of: .say) == .available,
                state.core.snapshot.participants.contains(where: { state.outboxes[$0.id]?.isFull() ?? false })
            {
                throw .messagesWaiting
            }
            let previous = state.core
            let actions = try state.core.perform(command, effects: effects, at: now)
            do throws(CommandRefusal) {
                try prepare(command, state.core.snapshot)
            } catch {
                state.core = previous
                throw error
            }
            return actions
        }
    }

    /// Executes the part of a command that may fail.
    private func prepare(_ command: LiveCallCommand, _ snapshot: LiveCallSnapshot) throws(CommandRefusal) {
        switch command {
        case .setCodec(let codec, _):
            do throws(CodecError) {
                try media?.setCodec(codec, opusFrameMilliseconds: snapshot.packetMilliseconds)
            } catch {
                throw .codecUnavailable(codec ?? .opus)
            }
        case .setDevice(let input, let output):
            do throws(AudioDeviceError) {
                try device?.use(input: input, output: output)
            } catch {
                throw .deviceUnavailable(error)
            }
        default: break
        }
    }

    /// Returns a stream of the past events after a number, then of each new event. The stream ends after
    /// ``LiveCallEvent/Kind/ended(_:)``. A reader more than ``historyLimit`` events behind misses the oldest; a gap in the
    /// numbers shows this.
    /// - Parameter number: the number of the last known event; 0 for none. At most ``historyLimit`` past events are repeated.
    public func events(after number: UInt64 = 0) -> AsyncStream<LiveCallEvent> {
        state.withLock { state in
            let repeatedEvents = state.history.filter { $0.number > number }
            let (stream, continuation) = AsyncStream<LiveCallEvent>.makeStream(
                bufferingPolicy: .bufferingNewest(Self.historyLimit))
            for event in repeatedEvents { continuation.yield(event) }
            if case .ended? = state.history.last?.kind {
                continuation.finish()
                return stream
            }
            // No event is missed: new ones are sent under the same lock.
            let new = newEvents.stream(keeping: Self.historyLimit)
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

    /// Returns the past events after a number, at most ``historyLimit``, for interfaces that poll. Arriving messages wait while
    /// even the fastest of these interfaces lags.
    package func pastEvents(after number: UInt64) -> [LiveCallEvent] {
        state.withLock { state in
            state.lastPolledEvent = max(number, state.lastPolledEvent ?? 0)
            guard let last = state.history.last, last.number > number else { return [] }
            return state.history.filter { $0.number > number }
        }
    }

    /// Returns a stream of the current snapshot, then of each new one. A slow reader gets only the latest. The stream ends with
    /// the first snapshot that has an ending.
    public func snapshots() -> AsyncStream<LiveCallSnapshot> {
        state.withLock { state in
            let present = state.core.snapshot
            let new = newSnapshots.stream(keeping: 1)
            return AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
                continuation.yield(present)
                guard present.ending == nil else { return continuation.finish() }
                let forward = Task {
                    for await snapshot in new {
                        continuation.yield(snapshot)
                        if snapshot.ending != nil { break }
                    }
                    continuation.finish()
                }
                continuation.onTermination = { _ in forward.cancel() }
            }
        }
    }

    /// Leaves the room if the call is in one, and closes room and device. Returns when both are closed; may be called again.
    public func close() async {
        try? perform(.leave)
        let task = closing.withLock { closing in
            let task = closing ?? Task { await self.closeParts() }
            closing = task
            return task
        }
        await task.value
    }

    private func closeParts() async {
        let tasks = tasks.withLock { $0 }
        await tasks[0].value
        thread.withLock { $0 }?.stop()
        device?.close()
        for task in tasks {
            task.cancel()
            await task.value
        }
        roomActions.finish()
        self.tasks.withLock { $0 = [] }
    }

    // MARK: The core

    func handle(_ event: LiveCallCore.Event) {
        process { state, now in state.core.handle(event, at: now) }
    }

    /// Runs the core, and executes its actions in order.
    func process<Failure: Error>(
        _ body: (inout State, HostTime) throws(Failure) -> [LiveCallCore.Action]
    ) throws(Failure) {
        // Effects that a later command replaced before they were heard. They are released outside the lock.
        var replaced: [LiveCallCore.MediaAction] = []
        let wakes = try state.withLock { state throws(Failure) -> Bool in
            let revision = state.core.snapshot.revision
            let actions = try body(&state, .now())
            for action in actions {
                if case .media(.setEffects) = action { replaced += state.removeWaitingEffects() }
                execute(action, &state)
            }
            if state.core.snapshot.revision != revision {
                newSnapshots.send(state.core.snapshot)
                updateRecording(state, at: .now())
            }
            return !state.mediaActions.isEmpty
        }
        withExtendedLifetime(replaced) {}
        if wakes { thread.withLock { $0 }?.handle.wake() }
    }

    private func execute(_ action: LiveCallCore.Action, _ state: inout State) {
        switch action {
        case .room(let action): roomActions.yield(action)
        case .media(.setMuted(let isMuted)): media?.setMuted(isMuted)
        case .media(let action): state.mediaActions.append(action)
        case .notify(let event):
            state.remember(event)
            newEvents.send(event)
            note(event, &state)
        case .say(let text, let participants):
            for participant in participants { outbox(to: participant, &state).enqueue(text) }
        case .sendFile(let transfer, let path, let participants): sendInBackground(transfer, path, participants)
        }
    }

    /// Stores the names of participants, and the times at which they left.
    private func note(_ event: LiveCallEvent, _ state: inout State) {
        if case .participantLeft(let participant, _) = event.kind {
            switch state.core.snapshot.sound {
            case .running(let since): state.records[participant.id]?.leftAfter = event.time.seconds(since: since)
            case .stopped(let seconds): state.records[participant.id]?.leftAfter = seconds
            case .none, .waiting: break
            }
        }
        for participant in state.core.snapshot.participants { state.names[participant.id] = participant.name }
    }
}

extension LiveCallCore.RoomAction {
    /// Executes the action in the room. Returns the error if the room cannot be opened or joined; otherwise nil.
    fileprivate func execute(in room: any LiveCallRoom) async -> NearbyError? {
        do throws(NearbyError) {
            switch self {
            case .host(let opening, let admission):
                try await room.host(
                    opening.name, policy: admission, pin: opening.pin, capacity: opening.capacity,
                    isAdvertised: opening.isAnnounced)
            case .join(let endpoint, let pin, let purpose): try await room.join(endpoint, pin: pin, purpose: purpose)
            case .provide(let pin): await room.provide(pin)
            case .decide(let id, let isAdmitted): await room.decide(id, isWelcome: isAdmitted)
            case .blockRequest(let id): await room.block(id)
            case .remove(let id): await room.remove(id)
            case .block(let id): await room.block(id)
            case .setAdmission(let policy): await room.setPolicy(policy)
            case .notify(let notice):
                await room.update(
                    name: notice.name, isMuted: notice.isMuted, isRecording: notice.isRecording,
                    allowsRecording: notice.allowsRecording)
            case .storeVolumes(let volumes): await room.storeVolumes(volumes)
            case .renegotiate(let members): for member in members { await room.renegotiate(member) }
            case .readJoinCodes: break
            case .close(let endsRoom): await room.close(endsRoom: endsRoom)
            }
            return nil
        } catch {
            return error
        }
    }
}

extension LiveCall.State {
    /// Removes the changes of effects that the call's thread has not made yet, since other effects follow.
    fileprivate mutating func removeWaitingEffects() -> [LiveCallCore.MediaAction] {
        func changesEffects(_ action: LiveCallCore.MediaAction) -> Bool {
            switch action {
            case .setEffects, .setEffectParameter: true
            default: false
            }
        }
        defer { mediaActions.removeAll(where: changesEffects) }
        return mediaActions.filter(changesEffects)
    }

    /// Appends an event to the history, and removes the oldest beyond its limits.
    fileprivate mutating func remember(_ event: LiveCallEvent) {
        history.append(event)
        historyByteCount += event.byteCount
        var removedCount = 0
        while history.count - removedCount > LiveCall.historyLimit || historyByteCount > LiveCall.historyByteLimit {
            historyByteCount -= history[removedCount].byteCount
            removedCount += 1
        }
        history.removeFirst(removedCount)
    }
}

extension LiveCallEvent {
    /// The bytes of the event's message; 0 without one.
    fileprivate var byteCount: Int { if case .messageReceived(let message) = kind { message.byteCount } else { 0 } }
}
