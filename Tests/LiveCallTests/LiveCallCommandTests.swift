// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport
import EarshotNearby
import TestSupport
import Testing

@testable import EarshotLiveCall
@testable import EarshotRooms

/// Each command, and each reason to refuse it.
@Suite struct LiveCallCommandTests {
    private static let command: [LiveCallCommand.Kind: LiveCallCommand] = {
        let (id, ask) = (CoreRig.id(9), JoinRequestID(number: 99))
        guard let pin = try? PIN("1234") else { return [:] }
        let all: [LiveCallCommand] = [
            .host(CoreRig.opening), .join(CoreRig.endpoint), .providePIN(pin), .admit(ask), .decline(ask),
            .blockRequest(ask), .remove(id), .block(id), .setAdmission(.all), .setMuted(true),
            .rename(CoreRig.name(4)), .setVolume(1, of: id), .setHeard(false, of: id), .setOutputVolume(1),
            .setLatencyProfile(.sing), .setCodec(.pcm), .setDevice(input: nil, output: nil),
            .setVoiceProcessing(.off), .setMonitor(.on), .setPushToTalk(true), .setEffects([]),
            .setEffectParameter("mix", of: "reverb", to: "20"), .setAccompaniment(files: ["/a.wav"]),
            .controlAccompaniment(.play), .startRecording(folder: nil), .stopRecording, .allowRecording(true),
            .say("hi"), .sendFile(path: "/x"), .leave, .endRoom,
        ]
        return Dictionary(uniqueKeysWithValues: all.map { ($0.kind, $0) })
    }()

    /// Expects that in this situation exactly these commands are executed, and the others refused for the given reasons.
    private static func expect(
        _ rig: CoreRig, available: Set<LiveCallCommand.Kind>, _ refusals: [LiveCallCommand.Kind: CommandRefusal]
    ) {
        for kind in LiveCallCommand.Kind.allCases {
            let expected: Availability =
                available.contains(kind) ? .available : refusals[kind].map { .unavailable($0) } ?? .available
            #expect(rig.snapshot.availability(of: kind) == expected, "\(kind)")
            if case .unavailable(let refusal) = expected {
                var copy = rig
                let revision = copy.snapshot.revision
                let found = command[kind].flatMap { copy.refusal(of: $0) }
                #expect(found == refusal && copy.snapshot.revision == revision, "\(kind)")
            }
        }
    }

    @Test func `only hosting, joining, leaving and local settings are available before a room`() {
        var refusals = Dictionary(
            uniqueKeysWithValues: LiveCallCommand.Kind.allCases.map { ($0, CommandRefusal.notInRoom) })
        refusals[.providePIN] = .noPINRequest
        refusals[.controlAccompaniment] = .noAccompaniment
        Self.expect(
            CoreRig(),
            available: [
                .host, .join, .leave, .setMuted, .rename, .setAdmission, .setOutputVolume, .setLatencyProfile,
                .setCodec, .setDevice, .setVoiceProcessing, .setMonitor, .setPushToTalk, .setEffects,
                .setEffectParameter, .setAccompaniment, .allowRecording,
            ],
            refusals)
    }

    @Test func `the commands of a host are unavailable to a guest`() {
        var rig = CoreRig()
        rig.joinAsGuest()
        Self.expect(
            rig,
            available: [
                .leave, .setMuted, .rename, .setAdmission, .setVolume, .setHeard, .setOutputVolume,
                .setLatencyProfile, .setCodec, .setDevice, .setVoiceProcessing, .setMonitor, .setPushToTalk,
                .setEffects, .setEffectParameter, .setAccompaniment, .startRecording, .allowRecording, .say, .sendFile,
            ],
            [
                .host: .alreadyInRoom, .join: .alreadyInRoom, .providePIN: .noPINRequest, .admit: .notHost,
                .decline: .notHost, .blockRequest: .notHost, .remove: .notHost, .block: .notHost, .endRoom: .notHost,
                .stopRecording: .notRecording, .controlAccompaniment: .noAccompaniment,
            ])
    }

    @Test func `sound, message and participant commands are unavailable to a lone host without sound`() {
        var rig = CoreRig(hasSound: false) { $0.staysAlone = true }
        rig.host()
        Self.expect(
            rig, available: [.leave, .setMuted, .rename, .setAdmission, .endRoom, .allowRecording],
            [
                .host: .alreadyInRoom, .join: .alreadyInRoom, .providePIN: .noPINRequest, .admit: .noJoinRequest,
                .decline: .noJoinRequest, .blockRequest: .noJoinRequest, .remove: .noParticipant,
                .block: .noParticipant, .setVolume: .noSound, .setHeard: .noSound, .setOutputVolume: .noSound,
                .setLatencyProfile: .noSound, .setCodec: .noSound, .setDevice: .noSound, .setVoiceProcessing: .noSound,
                .setMonitor: .noSound, .setPushToTalk: .noSound, .setEffects: .noSound, .setEffectParameter: .noSound,
                .setAccompaniment: .noSound, .controlAccompaniment: .noSound, .startRecording: .noSound,
                .stopRecording: .notRecording, .say: .noReceiver, .sendFile: .noReceiver,
            ])
    }

    @Test func `every command is refused after the end`() throws {
        var rig = CoreRig()
        rig.joinAsGuest()
        try rig.perform(.leave)
        let all = LiveCallCommand.Kind.allCases.map { ($0, CommandRefusal.ended) }
        Self.expect(rig, available: [], Dictionary(uniqueKeysWithValues: all))
    }

    @Test func `these tests contain a command of each kind`() {
        #expect(Self.command.count == LiveCallCommand.Kind.allCases.count)
    }

    @Test func `commands for an unknown participant or join request are refused`() throws {
        var rig = CoreRig { $0.staysAlone = true }
        rig.host()
        rig.change(to: [CoreRig.member(1), CoreRig.member(2)])
        rig.ask(7)
        let (id, ask) = (CoreRig.id(9), JoinRequestID(number: 99))
        for command in [LiveCallCommand.admit(ask), .decline(ask), .blockRequest(ask)] {
            #expect(rig.refusal(of: command) == .noJoinRequest)
        }
        for command in [LiveCallCommand.remove(id), .block(id), .setVolume(1, of: id), .setHeard(true, of: id)] {
            #expect(rig.refusal(of: command) == .noParticipant)
        }
        #expect(rig.snapshot.joinRequests.count == 1)
    }

    @Test func `empty and too long messages are refused`() throws {
        var rig = CoreRig()
        rig.joinAsGuest()
        #expect(rig.refusal(of: .say("")) == .emptyMessage)
        #expect(rig.refusal(of: .say(String(repeating: "ä", count: 32_769))) == .messageTooLong(limit: 65_536))
        #expect(rig.refusal(of: .say(String(repeating: "ä", count: 32_768))) == nil)
        #expect(rig.snapshot.unsentMessageCount == 1)
        rig.handle(.unsentMessages(0))
        #expect(rig.snapshot.unsentMessageCount == 0)
    }

    @Test func `each command of a host reaches the room once`() throws {
        var rig = CoreRig { $0.staysAlone = true }
        rig.host()
        rig.change(to: [CoreRig.member(1), CoreRig.member(2), CoreRig.member(3)])
        for number in 1...3 { rig.ask(UInt64(number)) }
        let before = rig.actions.room.count
        try rig.perform(.admit(JoinRequestID(number: 2)))
        try rig.perform(.decline(JoinRequestID(number: 1)))
        try rig.perform(.blockRequest(JoinRequestID(number: 3)))
        try rig.perform(.remove(CoreRig.id(2)))
        try rig.perform(.block(CoreRig.id(3)))
        try rig.perform(.setAdmission(.all))
        try rig.perform(.rename(CoreRig.name(4)))
        #expect(
            rig.actions.room.dropFirst(before) == [
                "admit 2", "decline 1", "block request 3", "remove 2", "block 3", "admission all", "tell Dan",
            ])
        #expect(rig.snapshot.joinRequests.isEmpty && rig.snapshot.admission == .all)
        #expect(rig.refusal(of: .admit(JoinRequestID(number: 2))) == .noJoinRequest)
        try rig.perform(.endRoom)
        #expect(rig.actions.room.last == "close for all")
    }

    @Test func `mute reaches media and room, and is reported once`() throws {
        var rig = CoreRig()
        rig.joinAsGuest()
        rig.now = HostTime(nanoseconds: 9_000_000_000)
        try rig.perform(.setMuted(true))
        #expect(rig.events.last?.time == rig.now)
        try rig.perform(.setMuted(true))
        #expect(rig.snapshot.isMuted && rig.snapshot.localParticipant?.isMuted == true)
        #expect(rig.actions.media.filter { $0 == "mute" }.count == 1)
        #expect(rig.actions.room.last == "tell muted")
        try rig.perform(.setMuted(false))
        #expect(!rig.snapshot.isMuted && rig.actions.media.last == "unmute" && rig.actions.room.last == "tell unmuted")
    }

    @Test(arguments: [(0.5, 0.5), (-1, 0), (100, 8), (Float.nan, 1), (Float.infinity, 1)] as [(Float, Float)])
    func `a volume is clamped to its limits`(asked: Float, got: Float) throws {
        var rig = CoreRig()
        rig.joinAsGuest()
        try rig.perform(.setVolume(asked, of: CoreRig.id(1)))
        #expect(rig.snapshot[CoreRig.id(1)]?.volume == got)
        #expect(rig.actions.media.last == (got == 1 ? "start" : "volume \(got) of 1"))
        try rig.perform(.setOutputVolume(asked))
        #expect(rig.snapshot.outputVolume == got && rig.actions.media.last == "output volume \(got)")
    }

    @Test func `the latency profile can be changed before a room is open`() throws {
        var rig = CoreRig()
        #expect(rig.snapshot.latencyProfile == .talk)
        try rig.perform(.setLatencyProfile(.sing))
        #expect(rig.snapshot.latencyProfile == .sing && rig.actions.media == ["latency profile sing"])
    }
}
