// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDevices
import EarshotAudioEngine
import EarshotMediaTransport
import EarshotNearby
import EarshotVoiceProcessing

@testable import EarshotAudioSession
@testable import EarshotCall
@testable import EarshotLiveCall
@testable import EarshotRooms
@testable import EarshotSimulation

/// The program of one person in a ``ChangedCall``: the model of the call, its media, and a session on simulated cards. It executes
/// the model's actions as ``LiveCall`` does, on the caller's thread.
final class ChangedPeer {
    let person: Int
    let id: MemberID
    private(set) var core: LiveCallCore
    let session: CallSession
    let client: any MediaClient
    let cards: ChangedCards
    let start: HostTime
    private(set) var faces: [EventFace] = []
    /// The actions that this rig does not know.
    private(set) var unknownActions: [String] = []

    unowned let call: ChangedCall
    private let voice: CallVoice
    let device: CallDeviceSession
    var isInspecting = false
    var isWoken = false
    /// The number of the session's events that the model has.
    var reportedEvents = 0
    /// The name of the last wanted card; nil for the default.
    var wantedCard: String? = ChangedCards.names[0]
    var refusalCount = 0
    private var recording: CallRecording?
    private(set) var recorded = RecordedTimes()
    private var effects: PreparedEffects?
    private var player: AccompanimentPlayer?
    private let playerReports = PlayerReports()

    /// The events of the accompaniment's player, which calls on any thread.
    private final class PlayerReports: Sendable {
        let events = LockedValue<[LiveCallCore.Event]>([])
    }

    var peerID: PeerID { PeerID(Int(id.number)) }

    init(_ person: Int, _ id: MemberID, in call: ChangedCall) throws {
        (self.person, self.id, self.call, start) = (person, id, call, call.now)
        cards = ChangedCards(person, in: call)
        var settings = AudioSession.Configuration()
        (settings.preferredSampleRate, settings.outputChannelCount) = (ChangedCall.rate, 1)
        device = try CallDeviceSession(AudioSession(cards, settings, players: .shared, clock: cards.clock))
        let frameCount = device.device.blockFrameCount
        var options = VoiceProcessingOptions()
        (options.echo, options.noise) = (nil, nil)  // a tone would be taken for noise, or for the echo of others
        voice = CallVoice(
            canProcess: true, options: options, sampleRate: ChangedCall.rate, blockFrameCount: frameCount)
        session = CallSession(
            CallPreferences(deviceRate: ChangedCall.rate, deviceBlock: frameCount), device: device.device,
            cname: "person \(person)", voice: voice)
        guard let client = session.client else { throw ChangedCall.NoClient() }
        self.client = client
        var configuration = LiveCall.Configuration()
        configuration.staysAlone = true
        configuration.voiceProcessing = .off
        core = LiveCallCore(configuration, latencyProfile: session.latencyProfile, hasVoiceProcessing: true)
    }

    // MARK: The model

    func handle(_ event: LiveCallCore.Event) { execute(core.handle(event, at: call.now)) }

    func perform(_ command: LiveCallCommand) throws(CommandRefusal) {
        let effects = try prepareEffects(for: command)
        let previous = core
        let actions = try core.perform(command, effects: effects, at: call.now)
        if case .setCodec(let codec, _) = command {
            do throws(CodecError) {
                try session.setCodec(codec, opusFrameMilliseconds: core.snapshot.packetMilliseconds)
            } catch {
                core = previous
                throw .codecUnavailable(codec ?? .opus)
            }
        }
        if case .setDevice(let input, let output) = command {
            do throws(AudioDeviceError) {
                try useDevice(input: input, output: output)
            } catch {
                core = previous
                throw .deviceUnavailable(error)
            }
        }
        execute(actions)
        runPlayer()
    }

    private func prepareEffects(for command: LiveCallCommand) throws(CommandRefusal) -> PreparedEffects? {
        guard case .setEffects(let texts) = command, !texts.isEmpty else { return nil }
        do throws(AudioEngineError) {
            return try PreparedEffects(texts, format: session.voiceFormat)
        } catch {
            throw .effect(error)
        }
    }

    /// Adds a face, which knows the present snapshot and hears all later events.
    func addFace() { faces.append(EventFace(core.snapshot)) }

    private func execute(_ actions: [LiveCallCore.Action]) {
        for action in actions {
            switch action {
            case .media(let action): execute(action)
            case .room(let action): execute(action)
            case .notify(let event):
                for index in faces.indices { faces[index].follow(event) }
            case .say(let text, let participants): call.say(text, from: self, to: participants)
            default: unknownActions.append("\(action)")
            }
        }
    }

    private func execute(_ action: LiveCallCore.MediaAction) {
        switch action {
        case .start:
            do { try session.start() } catch { unknownActions.append("the device does not start: \(error)") }
            voice.stop()  // the thread of voice processing: ``runCycle()`` does its work
            handle(.soundStarted(device.description))
        case .stop:
            player = nil
            session.stop()
            if recording != nil { endRecording() }
        case .startRecording(let folder):
            recording = try? session.startRecording()
            recorded = RecordedTimes()
            handle(.recordingStarted(folder: folder ?? ""))
        case .stopRecording: endRecording()
        default: executeSetting(action)
        }
    }

    private func executeSetting(_ action: LiveCallCore.MediaAction) {
        switch action {
        case .setMuted(let isMuted): session.setMuted(isMuted)
        case .setGain(let gain, let id): session.setLastingGain(gain, of: PeerID(Int(id.number)))
        case .setOutputVolume(let volume): session.setOutputVolume(volume)
        case .setLatencyProfile(let profile): session.setLatencyProfile(profile)
        case .setVoiceProcessing(let isOn): voice.setProcessing(isOn)
        case .setMonitor(let isOn, let delay): session.setMonitored(isOn, delay: delay)
        case .setEffects(let new):
            session.setEffects(new?.insert)
            effects = new
        case .setEffectParameter(let parameter, let effect, let value):
            effects?.setParameter(parameter, ofEffect: effect, to: value)
        case .accompany(let order, let number): accompany(order, number)
        default: unknownActions.append("\(action)")
        }
    }

    /// Gives an order to the accompaniment's player, which has no thread here: ``runPlayer()`` does its work.
    private func accompany(_ order: AccompanimentOrder, _ number: Int) {
        if player == nil, let song = session.startAccompaniment() {
            player = AccompanimentPlayer(song) { [playerReports] event in
                playerReports.events.withLock { $0.append(event) }
            }
        }
        player?.give(order, number: number)
    }

    /// Runs the turns of the accompaniment's thread, and handles its reports.
    private func runPlayer() {
        guard let player else { return }
        while player.work(at: call.now) == .milliseconds(0) {}
        let events = playerReports.events.withLock { events in
            defer { events = [] }
            return events
        }
        for event in events { handle(event) }
    }

    private func endRecording() {
        session.endRecording()
        recording = nil
        handle(.recordingEnded(CallRecordingResult(folder: "/take", seconds: 1, paths: [], gapSeconds: 0)))
    }

    private func execute(_ action: LiveCallCore.RoomAction) {
        switch action {
        case .notify(let notice): call.update(id, notice)
        case .storeVolumes(let volumes): call.volumes[person].apply(volumes)
        case .renegotiate(let members): call.renegotiate(members, by: self)
        case .readJoinCodes: handle(.joinCodes([]))
        case .host, .join, .setAdmission, .close: break
        default: unknownActions.append("\(action)")
        }
    }

    /// Observes media and device as ``LiveCall`` does every 50 ms.
    func observe() {
        guard core.snapshot.ending == nil else { return }
        var observation = LiveCallCore.Observation()
        for participant in core.snapshot.participants {
            guard let statistics = session.statistics(of: PeerID(Int(participant.id.number))) else { continue }
            observation.calls[participant.id] = .init(format: statistics.configuration, rate: statistics.media.rate)
            observation.calls[participant.id]?.missingCodecs = statistics.missingCodecs
        }
        session.followDevice()
        observation.failure = session.failure
        observation.microphone = session.levels.microphone
        observation.device = device.description
        observation.interruption = device.interruption
        observation.voiceLatency = session.voiceLatency
        observation.hardwareBlockFrameCount = device.hardwareBlockFrameCount
        observation.voice = .init(
            processing: voice.processing, channelCount: 1, maximumBlockFrameCount: voice.blockFrameCount,
            latency: voice.processingLatency)
        handle(.observation(observation))
        runPlayer()
    }

    // MARK: The card

    /// The loudspeakers' sound since ``start``.
    var heard: [Float] { cards.heard.samples }

    /// The time of the card's next cycle.
    var nextCallTime: HostTime { cards.nextCallTime }

    /// Runs the card's next cycle, the thread of voice processing, and the reader of a recording.
    func runCycle() {
        cards.runCycle(at: call.now)
        voice.runPending()
        while let cycle = recording?.read({ _, _, _ in }) { recorded.addVoices(cycle) }
        while let cycle = recording?.readLocalVoice(.dry)?.cycle { recorded.addLocalVoice(cycle) }
    }

    /// The number of frames of a participant's voice that were missing so far, as the media count them.
    func missingFrames(of other: ChangedPeer) -> Int {
        guard let statistics = session.statistics(of: other.peerID) else { return 0 }
        let playout = statistics.playout
        return playout.concealedFrames + playout.droppedFrames + statistics.media.captureLostFrames
    }
}
