// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDevices
import EarshotAudioSession
import EarshotCall
import EarshotMediaTransport
import EarshotNearby
import EarshotVoiceProcessing
import Foundation

@testable import EarshotLiveCall
@testable import EarshotRooms

/// A core on virtual time, in a room of fictitious members: Ann is number 1, Bob 2, and so on.
struct CoreRig {
    var core: LiveCallCore
    var now = HostTime(nanoseconds: 1_000_000_000)
    /// All actions so far.
    private(set) var actions: [LiveCallCore.Action] = []
    private(set) var events: [LiveCallEvent] = []
    private(set) var roster: Roster?
    var observation = LiveCallCore.Observation()

    init(hasSound: Bool = true, _ configure: (inout LiveCall.Configuration) -> Void = { _ in }) {
        var configuration = LiveCall.Configuration()
        configure(&configuration)
        core = LiveCallCore(configuration, latencyProfile: hasSound ? .talk : nil, hasVoiceProcessing: true)
    }

    var snapshot: LiveCallSnapshot { core.snapshot }

    static func name(_ id: UInt64) -> PeerName {
        let names = ["Ann", "Bob", "Cid", "Dan", "Eva", "Fay", "Gus", "Hal"]
        guard let name = try? PeerName(names[Int(id - 1) % names.count]) else { fatalError("a valid name") }
        return name
    }

    static func id(_ number: UInt64) -> MemberID {
        guard let id = MemberID(number) else { fatalError("a number of a member") }
        return id
    }

    static func key(_ number: UInt64) -> KeyFingerprint {
        guard let key = KeyFingerprint(bytes: [UInt8](repeating: UInt8(number), count: 32)) else {
            fatalError("32 bytes")
        }
        return key
    }

    static func member(_ number: UInt64, isMuted: Bool = false, isAway: Bool = false) -> Member {
        Member(
            id: id(number), name: name(number), key: key(number), addresses: [],
            port: 47_400, isMuted: isMuted, isAway: isAway)
    }

    func makeRoster(_ members: [Member], host: UInt64) -> Roster {
        var generator = SeededRandom(seed: 1)
        return Roster(
            room: RoomID(using: &generator), name: Self.name(1), epoch: .first,
            revision: 1, host: Self.id(host), members: members)
    }

    // MARK: Inputs

    @discardableResult
    mutating func handle(_ event: LiveCallCore.Event) -> [LiveCallCore.Action] { note(core.handle(event, at: now)) }

    @discardableResult
    mutating func perform(
        _ command: LiveCallCommand, effects: PreparedEffects? = nil
    ) throws(CommandRefusal) -> [LiveCallCore.Action] {
        note(try core.perform(command, effects: effects, at: now))
    }

    /// Returns the reason for refusing a command; nil if it was executed.
    mutating func refusal(of command: LiveCallCommand) -> CommandRefusal? {
        do throws(CommandRefusal) {
            try perform(command)
            return nil
        } catch {
            return error
        }
    }

    private mutating func note(_ new: [LiveCallCore.Action]) -> [LiveCallCore.Action] {
        actions += new
        for case .notify(let event) in new { events.append(event) }
        return new
    }

    /// Advances the time, with an update every 50 ms.
    mutating func wait(_ seconds: Double) {
        for _ in 0..<Int((seconds / 0.05).rounded(.up)) {
            now = HostTime(nanoseconds: now.nanoseconds + 50_000_000)
            handle(.observation(observation))
        }
    }

    // MARK: The room

    static let opening = RoomOpening(name: name(1))
    static let endpoint = Endpoint(addresses: [], key: .any)

    /// Hosts a room as Ann, alone.
    mutating func host() {
        _ = try? perform(.host(Self.opening))
        join(Self.member(1), host: 1, as: 1)
        handle(.joinCodes([]))
    }

    /// Joins Ann's room as Bob.
    mutating func joinAsGuest() {
        _ = try? perform(.join(Self.endpoint))
        join(Self.member(1), Self.member(2), host: 1, as: 2)
    }

    private mutating func join(_ members: Member..., host: UInt64, as id: UInt64) {
        let roster = makeRoster(members, host: host)
        self.roster = roster
        handle(.room(.joined(roster, as: Self.id(id))))
    }

    /// Changes the roster to these members.
    mutating func change(to members: [Member], host: UInt64 = 1) {
        let new = makeRoster(members, host: host)
        let changes = roster.map { new.changes(since: $0) } ?? []
        roster = new
        handle(.room(.changed(changes, new)))
    }

    /// Reports that the device runs, if the core requested it.
    mutating func startSound() { handle(.soundStarted(.test)) }

    mutating func ask(_ number: UInt64) {
        let question = AskingGuest(
            name: Self.name(3), purpose: nil, key: nil, address: .loopback, isKnown: false)
        handle(.room(.question(JoinRequestID(number: number), question)))
    }
}

extension CallDevice {
    static let test = CallDevice(.speaker)

    enum Output { case speaker, headphones }

    init(_ output: Output) {
        let session = AudioSession(SimulatedSystem.standard())
        guard let device = try? session.activate() else { fatalError("a simulated card") }
        self.init(session, device)
        session.deactivate()
        route = AudioRoute(
            input: AudioDeviceDescription(
                id: "mic", backend: .simulated, name: "Microphone", inputChannelCount: 1,
                outputChannelCount: 0),
            output: AudioDeviceDescription(
                id: "out", backend: .simulated, name: "Output", form: output == .speaker ? .speaker : .headphones,
                inputChannelCount: 0, outputChannelCount: 2))
    }
}

extension [LiveCallCore.Action] {
    /// The actions for the room, as text.
    var room: [String] {
        compactMap { action in
            guard case .room(let action) = action else { return nil }
            return switch action {
            case .host: "host"
            case .join: "join"
            case .provide: "provide"
            case .decide(let id, let isAdmitted): "\(isAdmitted ? "admit" : "decline") \(id.number)"
            case .blockRequest(let id): "block request \(id.number)"
            case .remove(let id): "remove \(id)"
            case .block(let id): "block \(id)"
            case .setAdmission(let policy): "admission \(policy.rawValue)"
            case .notify(let notice):
                "tell \(notice.name.map { $0.text } ?? "")\(notice.isMuted.map { $0 ? "muted" : "unmuted" } ?? "")"
                    + (notice.isRecording.map { $0 ? "recording" : "not recording" } ?? "")
                    + (notice.allowsRecording.map { $0 ? "allowed" : "declined" } ?? "")
            case .storeVolumes(let volumes):
                "store "
                    + volumes.map {
                        "\($0.setting.volume)\($0.setting.isHeard ? "" : " unheard") of \($0.key.hex.prefix(2))"
                    }.joined(separator: ", ")
            case .renegotiate(let ids): "renegotiate \(ids.map { "\($0.number)" }.joined(separator: " "))"
            case .readJoinCodes: "codes"
            case .close(let endsRoom): endsRoom ? "close for all" : "close"
            }
        }
    }

    /// The actions for media, as text.
    var media: [String] {
        compactMap { action in
            guard case .media(let action) = action else { return nil }
            return switch action {
            case .start: "start"
            case .stop: "stop"
            case .setMuted(let isMuted): isMuted ? "mute" : "unmute"
            case .setGain(let gain, let id): "volume \(gain) of \(id)"
            case .setOutputVolume(let volume): "output volume \(volume)"
            case .accompany(.load(let files, _, _), let number):
                "accompany \(number) load \(files.joined(separator: ", "))"
            case .accompany(.control(let control), let number): "accompany \(number) \(control)"
            case .setLatencyProfile(let profile): "latency profile \(profile)"
            case .setVoiceProcessing(let isOn): "voice processing \(isOn ? "on" : "off")"
            case .setMonitor(let isOn, let delay):
                "monitor \(isOn ? "on" : "off")\(delay > 0 ? " \(Int((delay * 1e3).rounded())) ms" : "")"
            case .setEffects(let effects): "effects \(effects?.description.texts.joined(separator: " ") ?? "none")"
            case .setEffectParameter(let parameter, let effect, let value):
                "parameter \(parameter) of effect \(effect): \(value)"
            case .startRecording(let folder): "record to \(folder ?? "music")"
            case .stopRecording: "stop recording"
            }
        }
    }
}
