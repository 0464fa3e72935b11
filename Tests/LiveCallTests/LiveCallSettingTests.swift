// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotPlayout
import TestSupport
import Testing

@testable import EarshotLiveCall
@testable import EarshotRooms

/// The events by which every face learns of the commands of the others.
@Suite struct LiveCallSettingTests {
    /// The news of a command for the faces that did not give it.
    private enum News: Equatable {
        /// These events come with the command.
        case events([EventDocument.Name])
        /// The room, the device or the recorder reports the result; the state shows the command until then.
        case later
        /// The state does not change, or only by a count.
        case none
    }

    /// Commands in the room of the host Ann, where Bob is and a guest asks to join, and the news of each. The switch names every
    /// command, so that a new one needs an answer to compile.
    private static func example(_ kind: LiveCallCommand.Kind) throws -> (command: LiveCallCommand, news: News) {
        let (bob, request) = (CoreRig.id(2), JoinRequestID(number: 7))
        return switch kind {
        case .host: (.host(CoreRig.opening), .later)
        case .join: (.join(CoreRig.endpoint), .later)
        case .providePIN: (.providePIN(try PIN("1234")), .later)
        case .admit: (.admit(request), .later)
        case .decline: (.decline(request), .events([.joinRequestWithdrawn]))
        case .blockRequest: (.blockRequest(request), .events([.joinRequestWithdrawn]))
        case .remove: (.remove(bob), .none)
        case .block: (.block(bob), .none)
        case .setAdmission: (.setAdmission(.known), .events([.settingChanged]))
        case .setMuted: (.setMuted(true), .events([.muted]))
        case .rename: (.rename(try PeerName("Zoe")), .none)
        case .setVolume: (.setVolume(0.5, of: bob), .events([.settingChanged]))
        case .setHeard: (.setHeard(false, of: bob), .events([.settingChanged]))
        case .setOutputVolume: (.setOutputVolume(0.5), .events([.settingChanged]))
        case .setLatencyProfile: (.setLatencyProfile(.sing), .events([.settingChanged]))
        case .setVoiceProcessing: (.setVoiceProcessing(.on), .events([.settingChanged]))
        case .setMonitor: (.setMonitor(.on), .events([.settingChanged]))
        case .setPushToTalk: (.setPushToTalk(true), .events([.settingChanged, .muted]))
        case .setCodec: (.setCodec(.pcm, frameMilliseconds: 5), .events([.settingChanged]))
        case .setDevice: (.setDevice(input: nil, output: nil), .none)
        case .setEffects: (.setEffects([]), .events([.effects]))
        case .setEffectParameter: (.setEffectParameter("mix", of: "reverb", to: "99"), .events([.effects]))
        case .setAccompaniment: (.setAccompaniment(files: ["/songs/a.wav"]), .later)
        case .controlAccompaniment: (.controlAccompaniment(.play), .events([.accompaniment]))
        case .startRecording: (.startRecording(folder: nil), .later)
        case .stopRecording: (.stopRecording, .later)
        case .allowRecording: (.allowRecording(true), .events([.settingChanged]))
        case .say: (.say("la"), .none)
        case .sendFile: (.sendFile(path: "/tmp/song.wav"), .later)
        case .leave: (.leave, .later)
        case .endRoom: (.endRoom, .later)
        }
    }

    /// A rig in which the command is available.
    private static func rig(for kind: LiveCallCommand.Kind) throws -> CoreRig {
        var rig = CoreRig { $0.staysAlone = true }
        if kind == .host || kind == .join { return rig }
        if kind == .providePIN {
            try rig.perform(.join(CoreRig.endpoint))
            rig.handle(.room(.pinNeeded))
            return rig
        }
        rig.host()
        rig.change(to: [CoreRig.member(1), CoreRig.member(2)])
        rig.startSound()
        rig.ask(7)
        if [.setEffects, .setEffectParameter].contains(kind) {
            let format = AudioFormat(sampleRate: 48_000, channelCount: 1)
            try rig.perform(.setEffects(["reverb"]), effects: PreparedEffects(["reverb"], format: format))
        }
        if kind == .controlAccompaniment { try rig.perform(.setAccompaniment(files: ["/songs/a.wav"])) }
        if kind == .stopRecording {
            try rig.perform(.startRecording(folder: nil))
            rig.handle(.recordingStarted(folder: "/x"))
        }
        return rig
    }

    /// Returns the snapshot without the revision and the counts.
    private static func state(_ snapshot: LiveCallSnapshot) -> LiveCallSnapshot {
        var snapshot = snapshot
        (snapshot.revision, snapshot.unsentMessageCount) = (0, 0)
        return snapshot
    }

    @Test(arguments: LiveCallCommand.Kind.allCases)
    func `a command that changes the state is an event for all faces, or the event of its result follows`(
        kind: LiveCallCommand.Kind
    ) throws {
        var rig = try Self.rig(for: kind)
        let (command, news) = try Self.example(kind)
        let (before, count) = (Self.state(rig.snapshot), rig.events.count)
        try rig.perform(command)
        let events = rig.events[count...].map { EventDocument.Name($0.kind) }
        #expect((Self.state(rig.snapshot) == before) == (news == .none || kind == .stopRecording), "\(kind)")
        if case .events(let names) = news { #expect(events == names) } else { #expect(events.isEmpty, "\(events)") }
    }

    /// The commands whose event is the command itself.
    private static let settings = LiveCallCommand.Kind.allCases.filter { kind in
        if case .events(let names)? = try? example(kind).news { names.contains(.settingChanged) } else { false }
    }

    @Test(arguments: settings)
    func `the event of a setting is the command with the new value, and comes once`(kind: LiveCallCommand.Kind) throws {
        #expect(Self.settings.count == 10)
        var rig = try Self.rig(for: kind)
        let first = rig.events.count
        let command = try Self.example(kind).command
        try rig.perform(command)
        let events = rig.events[first...].compactMap {
            event -> (command: LiveCallCommand, participant: Participant?)? in
            if case .settingChanged(let setting, let participant) = event.kind { (setting, participant) } else { nil }
        }
        #expect(events.map(\.command) == [command])
        let isOfBob = [.setVolume, .setHeard].contains(kind)
        #expect(events.map(\.participant) == [isOfBob ? rig.snapshot[CoreRig.id(2)] : nil])
        let count = rig.events.count
        try rig.perform(command)
        #expect(rig.events.count == count)
    }

    @Test func `the event has the value as the call clamped it`() throws {
        var rig = try Self.rig(for: .setVolume)
        for (command, expected) in [
            (.setVolume(99, of: CoreRig.id(2)), .setVolume(8, of: CoreRig.id(2))),
            (.setOutputVolume(-1), .setOutputVolume(0)),
        ] as [(LiveCallCommand, LiveCallCommand)] {
            try rig.perform(command)
            guard case .settingChanged(let setting, _)? = rig.events.last?.kind else {
                Issue.record("no event of a setting")
                continue
            }
            #expect(setting == expected)
        }
    }

    @Test func `an answer to recordings that an option gives is an event, too`() throws {
        var rig = CoreRig { $0.recordingConsent = .no }
        rig.joinAsGuest()
        rig.startSound()
        var ann = CoreRig.member(1)
        ann.isRecording = true
        rig.change(to: [ann, CoreRig.member(2)])
        let settings = rig.events.compactMap { event -> LiveCallCommand? in
            if case .settingChanged(let setting, _) = event.kind { setting } else { nil }
        }
        #expect(settings == [.allowRecording(false)] && rig.snapshot.allowsRecording == false)
    }

    @Test func `a recording that waits for the sound is an event, and so is its cancellation`() throws {
        var rig = CoreRig { $0.staysAlone = true }
        rig.host()
        let count = rig.events.count
        try rig.perform(.startRecording(folder: "/takes"))
        try rig.perform(.stopRecording)
        let settings = rig.events[count...].compactMap { event -> LiveCallCommand? in
            if case .settingChanged(let setting, nil) = event.kind { setting } else { nil }
        }
        #expect(settings == [.startRecording(folder: "/takes"), .stopRecording] && !rig.snapshot.isRecordingAwaited)
    }

    @Test func `a remembered volume that applies to a participant who joins is no changed setting`() throws {
        var rig = try Self.rig(for: .setVolume)
        try rig.perform(.setVolume(0.5, of: CoreRig.id(2)))
        let count = rig.events.count
        rig.change(to: [CoreRig.member(1)])
        rig.change(to: [CoreRig.member(1), CoreRig.member(2)])
        let later = rig.events[count...].map { EventDocument.Name($0.kind) }
        #expect(!later.contains(.settingChanged), "\(later)")
    }

    /// A face that knows the call by its events alone, apart from one status at its beginning.
    private struct Face {
        var settings: [LiveCallCommand.Kind: LiveCallCommand] = [:]
        var people: [MemberID: Participant] = [:]

        mutating func take(_ event: LiveCallEvent) {
            guard case .settingChanged(let setting, let participant) = event.kind else { return }
            if let participant { people[participant.id] = participant } else { settings[setting.kind] = setting }
        }
    }

    @Test func `a face that reads the events knows the settings of the call after 2,000 random commands of two faces`()
        throws
    {
        var rig = try Self.rig(for: .setVolume)
        rig.change(to: (1...4).map { CoreRig.member($0) })
        var (face, random, read) = (Face(), SeededRandom(seed: 22), rig.events.count)
        func draw(_ count: UInt64) -> UInt64 { random.next() % count }
        for _ in 0..<2_000 {
            let id = CoreRig.id(2 + draw(3))
            let command: LiveCallCommand =
                switch draw(7) {
                case 0: .setVolume(Float(draw(9)), of: id)
                case 1: .setHeard(draw(2) == 0, of: id)
                case 2: .setOutputVolume(Float(draw(5)) / 2)
                case 3: .setLatencyProfile(draw(2) == 0 ? .sing : .listen)
                case 4: .setVoiceProcessing(draw(2) == 0 ? .on : .off)
                case 5: .setAdmission(AdmissionPolicy.allCases[Int(draw(3))])
                default: .allowRecording(draw(2) == 0)
                }
            try rig.perform(command)
            for event in rig.events[read...] { face.take(event) }
            read = rig.events.count
            let snapshot = rig.snapshot
            for (kind, setting) in face.settings { #expect(Self.value(kind, snapshot) == setting) }
            for (id, participant) in face.people {
                #expect(snapshot[id]?.volume == participant.volume && snapshot[id]?.isHeard == participant.isHeard)
            }
        }
        #expect(face.settings.count == 5 && face.people.count == 3)
    }

    /// Returns the command that sets the present value of a setting of the call.
    private static func value(_ kind: LiveCallCommand.Kind, _ snapshot: LiveCallSnapshot) -> LiveCallCommand? {
        switch kind {
        case .setOutputVolume: .setOutputVolume(snapshot.outputVolume)
        case .setLatencyProfile: snapshot.latencyProfile.map { .setLatencyProfile($0) }
        case .setVoiceProcessing: .setVoiceProcessing(snapshot.voiceProcessingMode)
        case .setAdmission: .setAdmission(snapshot.admission)
        case .allowRecording: snapshot.allowsRecording.map { .allowRecording($0) }
        default: nil
        }
    }
}
