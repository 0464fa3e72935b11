// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotNearby
import EarshotPlayout
import Foundation
import TestSupport
import Testing

@testable import EarshotCall
@testable import EarshotDuet
@testable import EarshotLiveCall
@testable import EarshotMediaTransport
@testable import EarshotRooms

/// The state of a call as JSON.
@Suite struct StatusDocumentTests {
    /// Returns the code blocks of the page of the protocol, each as one line.
    private static func blocks() throws -> [[UInt8]] {
        try document("call-events.md").components(separatedBy: "```json\n").dropFirst().compactMap {
            $0.components(separatedBy: "```").first.map { Array($0.replacing("\n", with: "").utf8) }
        }
    }

    private static func status(_ snapshot: LiveCallSnapshot, _ levels: LiveCallLevels = .init(), now: HostTime = .now())
        -> StatusDocument
    {
        StatusDocument(snapshot, levels, lastEvent: 9, program: "0.1.0", pid: 4_711, now: now)
    }

    static var statistics: CallStatistics {
        CallStatistics(
            configuration: DocumentExamples.format, direction: .sendReceive,
            media: MediaStatistics(rtp: RTPStatistics()))
    }

    /// The shortest lines of the first program with this protocol. Later programs must read them, so added fields are optional.
    @Test func `the lines of the first program with this protocol are read`() throws {
        let participant =
            #"{"id":2,"name":"Ben","isHost":false,"isMuted":false,"isAway":false,"isRecording":false,"volume":1,"#
            + #""isHeard":true}"#
        let device =
            #"{"system":"alsa","name":"Card","rate":48000,"block":256,"sampleType":"int16","hasSeparateInput":false}"#
        let status =
            #"{"protocol":1,"earshot":"0.1.0","pid":1,"revision":1,"lastEvent":0,"phase":"inRoom","participants":["#
            + participant
            + #"],"joinRequests":[],"admission":"ask","isPINRequested":false,"joinCodes":[],"isHostLost":false,"#
            + #""isMuted":false,"sound":{"state":"running"},"outputVolume":1,"microphone":"fine","peak":0,"#
            + #""isSpeaking":false,"isRecordingAwaited":false,"isRecordingConsentRequested":false,"#
            + #""unsentMessageCount":0,"transfers":[],"device":"# + device + "}"
        let read = CallJSON.decoded(StatusDocument.self, from: Array(status.utf8))
        #expect(read?.participants.first?.name == "Ben" && read?.device?.name == "Card")
        let event =
            #"{"number":1,"time":"2026-11-28T14:05:12.310Z","monotonicNanoseconds":8,"event":"participantMuted","#
            + #""participant":"# + participant + "}"
        #expect(CallJSON.decoded(EventDocument.self, from: Array(event.utf8))?.participant?.id == 2)
        let hello = CallJSON.decoded(CallSocketHello.self, from: Array(#"{"earshot":"0.1.0","protocol":1}"#.utf8))
        #expect(hello?.version == CallSocket.version)
        let commands = ["status", "watch", "stopRecording", "leave", "endRoom"]
        for command in commands {
            #expect(CallJSON.decoded(CommandDocument.self, from: Array(#"{"command":"\#(command)"}"#.utf8)) != nil)
        }
    }

    @Test func `the state of a call is the same after it was written and read`() throws {
        var rig = CoreRig { $0.staysAlone = true }
        rig.host()
        rig.change(to: [CoreRig.member(1), CoreRig.member(2), CoreRig.member(3, isMuted: true)])
        rig.startSound()
        rig.ask(5)
        try rig.perform(.setVolume(0.25, of: CoreRig.id(2)))
        try rig.perform(.setPushToTalk(true))
        rig.observation.device = CallDevice(.speaker)
        try rig.perform(.setMonitor(.equal))
        rig.observation.calls[CoreRig.id(2)] = .init(
            format: CallConfiguration(
                codec: .pcm, streamRate: 48_000, channelCount: 1, framesPerPacket: 128, bitRate: 768_000,
                payloadType: 97, deviceRate: 48_000, deviceBlock: 128), mouthToEar: 0.5)
        try rig.perform(.startRecording(folder: "/tmp/take"))
        rig.handle(.recordingStarted(folder: "/tmp/take"))
        rig.observation.interruption = (.noDevice, rig.now)
        rig.wait(2)
        var levels = LiveCallLevels()
        levels.own.isSpeaking = true
        var statistics = Self.statistics
        statistics.mouthToEar = 0.033_123_4
        statistics.media.rtp.packetsLost = 4
        statistics.playout.glitches = 2
        levels.participants[CoreRig.id(2)] = statistics
        let status = Self.status(rig.snapshot, levels, now: rig.now)
        #expect(CallJSON.decoded(StatusDocument.self, from: CallJSON.line(status)) == status)

        #expect(status.phase == "inRoom" && status.room?.name == "Ann" && status.localParticipant?.isHost == true)
        #expect(status.participants.map(\.name) == ["Bob", "Cid"] && status.participants.map(\.volume) == [0.25, 1])
        #expect(status.participants.map(\.isMuted) == [false, true] && status.isMuted)
        #expect(status.participants[0].statistics?.delayMs == 33.123 && status.participants[0].statistics?.lost == 4)
        #expect(status.participants[1].statistics == nil && status.isSpeaking)
        #expect(status.joinRequests.map(\.id) == [5] && status.admission == "ask")
        #expect(status.sound == StatusDocument.Sound(state: "running", seconds: 2) && status.dial == "talk")
        #expect(status.recording == RecordingDocument(folder: "/tmp/take", seconds: 2))
        #expect(status.interruption?.code == "no-device" && status.device?.system == "simulated")
        #expect(status.isPushToTalk == true && status.monitor?.mode == "equal" && status.monitor?.delayMs == 250)
        #expect(status.monitor?.state == "on" && status.monitor?.reason == "as late as the others' voices")
        #expect(status.voiceProcessing?.mode == "auto" && status.revision == rig.snapshot.revision)
    }

    @Test func `the state before a room and after the end is written`() throws {
        var rig = CoreRig(hasSound: false)
        #expect(Self.status(rig.snapshot).phase == "idle" && Self.status(rig.snapshot).sound.state == "none")
        try rig.perform(.join(CoreRig.endpoint))
        rig.handle(.room(.asking(.test)))
        rig.handle(.room(.pinNeeded))
        let joining = Self.status(rig.snapshot)
        #expect(joining.phase == "joining" && joining.room?.host == "Ann" && joining.isPINRequested)
        try rig.perform(.leave)
        let ended = Self.status(rig.snapshot)
        #expect(ended.phase == "ended" && ended.ending?.code == "left")
        #expect(CallJSON.decoded(StatusDocument.self, from: CallJSON.line(ended)) == ended)
    }

    @Test func `the duet of a call is in its status`() throws {
        var duet = DuetStatus<MemberID>()
        duet.song = DuetSong(
            name: "Blue Moon.ogg", byteCount: 5, hash: String(repeating: "0a", count: 32), duration: 192.5)
        (duet.phase, duet.position, duet.attempt, duet.hasAgreed) = (.counting(1.2344), 0, 2, true)
        let singers = [2, 3].map { CoreRig.id($0) }
        duet.singers = [.init(member: singers[0], hasAgreed: true), .init(member: singers[1], cannotRecord: true)]
        var live = LiveDuetStatus(duet: duet)
        (live.presentStems, live.mixPaths) = ([CoreRig.id(2)], ["/d/take 1/mix.m4a"])
        let status = StatusDocument(
            CoreRig().snapshot, .init(), duet: live, lastEvent: 9, program: "0.1.0", pid: 4_711)
        let document = try #require(CallJSON.decoded(StatusDocument.self, from: CallJSON.line(status))?.duet)
        #expect(document == status.duet && document.phase == "counting" && document.countdown == 1.234)
        #expect(document.song == "Blue Moon" && document.duration == 192.5 && document.take == 2 && document.hasAgreed)
        #expect(document.singers.map(\.participant) == [2, 3] && document.singers.map(\.hasArrived) == [true, false])
        #expect(document.singers.map(\.cannotRecord) == [false, true] && document.mixes == ["/d/take 1/mix.m4a"])
        let page = try TestSupport.document("call-events.md")
        for field in ["phaseOfOthers", "arrivedPart", "countdown", "mix"] { #expect(page.contains("`\(field)`")) }
    }

    @Test func `numbers that are not finite are left out`() {
        var levels = LiveCallLevels()
        levels.own.spokenPeak = .nan
        var statistics = Self.statistics
        statistics.mouthToEar = .infinity
        statistics.level.peak = .nan
        levels.participants[CoreRig.id(2)] = statistics
        var rig = CoreRig()
        rig.host()
        rig.change(to: [CoreRig.member(1), CoreRig.member(2)])
        let status = Self.status(rig.snapshot, levels)
        #expect(status.peak == 0 && status.participants.count == 1)
        #expect(status.participants[0].statistics?.delayMs == nil && status.participants[0].statistics?.peak == 0)
        #expect(CallJSON.decoded(StatusDocument.self, from: CallJSON.line(status)) == status)
    }

    @Test func `the status and the event on the page of the protocol are read, with each field`() throws {
        let blocks = try Self.blocks()
        let hello = try #require(blocks.compactMap { CallJSON.decoded(CallSocketHello.self, from: $0) }.first)
        #expect(hello == CallSocketHello(earshot: "0.1.0", pid: 4_711, room: "Blue Room"))
        let status = try #require(blocks.compactMap { CallJSON.decoded(StatusDocument.self, from: $0) }.first)
        #expect(status.participants.first?.statistics?.delayMs == 33.1 && status.device?.input?.form == "headset")
        #expect(status.participants.first?.statistics?.clock?.offsetMs == -86_400_123.456)
        #expect(status.recording?.seconds == 12.5 && status.voiceProcessing?.state == "off")
        #expect(status.monitor?.state == "on" && status.isPushToTalk == false)
        #expect(status.duet?.song == "Blue Moon" && status.duet?.seconds == 61.25 && status.duet?.singers.count == 1)
        let event = try #require(blocks.compactMap { CallJSON.decoded(EventDocument.self, from: $0) }.first)
        #expect(event.event == "participantMuted" && event.participant?.isMuted == true)
    }
}
