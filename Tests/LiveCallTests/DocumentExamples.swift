// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP
import EarshotAudioDevices
import EarshotMediaTransport
import EarshotNearby
import EarshotPlayout
import Testing

@testable import EarshotAudioSession
@testable import EarshotCall
@testable import EarshotDuet
@testable import EarshotLiveCall
@testable import EarshotRooms

/// Examples of each kind of event and command. The switches name every kind, so that a new one needs an example to compile.
enum DocumentExamples {
    static let format = CallConfiguration(
        codec: .opus, streamRate: 48_000, channelCount: 1, framesPerPacket: 480, bitRate: 48_000, payloadType: 97,
        deviceRate: 48_000, deviceBlock: 256)

    static func participant(_ number: UInt64 = 2) -> Participant {
        var participant = Participant(CoreRig.member(number, isMuted: true), isHost: number == 1)
        participant.connection = .open(since: HostTime(nanoseconds: 5))
        participant.format = format
        participant.reducedRate = rate
        participant.volume = 0.3
        participant.allowsRecording = false
        return participant
    }

    static var rate: RateState {
        var rate = RateState(RateRung(.opus, bitRate: 32_000, framesPerPacket: 960, packetRate: 50))
        rate.linkBitRate = 41_234.5
        rate.isTooSlow = true
        return rate
    }

    static let request = JoinRequest(
        id: JoinRequestID(number: 3),
        guest: AskingGuest(
            name: CoreRig.name(3), purpose: try? Purpose("to sing"), key: CoreRig.key(3), address: .loopback,
            isKnown: true))

    static func command(_ kind: LiveCallCommand.Kind) throws -> [LiveCallCommand] {
        let (id, request) = (CoreRig.id(7), JoinRequestID(number: 99))
        switch kind {
        case .host:
            var opening = RoomOpening(name: try PeerName("Blue Room"))
            (opening.pin, opening.capacity, opening.isAnnounced) = (try PIN("sesame"), 3, false)
            return [.host(opening), .host(CoreRig.opening)]
        case .join:
            return [.join(CoreRig.endpoint), .join(CoreRig.endpoint, pin: try PIN("1234"))]
        case .providePIN: return [.providePIN(try PIN("a PIN"))]
        case .admit: return [.admit(request)]
        case .decline: return [.decline(request)]
        case .blockRequest: return [.blockRequest(request)]
        case .remove: return [.remove(id)]
        case .block: return [.block(id)]
        case .setAdmission: return AdmissionPolicy.allCases.map { .setAdmission($0) }
        case .setMuted: return [.setMuted(true), .setMuted(false)]
        case .rename: return [.rename(try PeerName("Zoë \"Z\""))]
        case .setVolume: return [.setVolume(0.1, of: id), .setVolume(8, of: id)]
        case .setHeard: return [.setHeard(false, of: id), .setHeard(true, of: id)]
        case .setOutputVolume: return [.setOutputVolume(0)]
        case .setLatencyProfile:
            return [.setLatencyProfile(.sing), .setLatencyProfile(try #require(LatencyProfile(position: 0.3)))]
        case .setCodec:
            return [.setCodec(nil), .setCodec(.pcm), .setCodec(.opus, frameMilliseconds: 2.5)]
        case .setDevice: return [.setDevice(input: nil, output: nil), .setDevice(input: "Mic 1", output: "out")]
        case .setVoiceProcessing: return VoiceProcessingMode.allCases.map { .setVoiceProcessing($0) }
        case .setMonitor: return MonitorMode.allCases.map { .setMonitor($0) }
        case .setPushToTalk: return [.setPushToTalk(true), .setPushToTalk(false)]
        case .setEffects: return [.setEffects([]), .setEffects(["reverb:large-hall,mix=20", "lv2:urn:x \"y\""])]
        case .setEffectParameter:
            return [.setEffectParameter("mix", of: "reverb", to: "20"), .setEffectParameter("", of: "", to: "")]
        case .setAccompaniment:
            return [.setAccompaniment(files: []), .setAccompaniment(files: ["/tmp/a b.flac", "/tmp/list.m3u"])]
        case .controlAccompaniment:
            let controls: [AccompanimentControl] = [
                .play, .pause, .seek(to: 12.5), .next, .previous, .setGain(0.5), .setForAll(true), .setForAll(false),
            ]
            return controls.map { .controlAccompaniment($0) }
        case .startRecording: return [.startRecording(folder: nil), .startRecording(folder: "/tmp/a b")]
        case .stopRecording: return [.stopRecording]
        case .allowRecording: return [.allowRecording(true), .allowRecording(false)]
        case .say: return [.say("two\nlines, \u{1B}[31m and \u{2028}"), .say("")]
        case .sendFile: return [.sendFile(path: "/tmp/song.wav")]
        case .leave: return [.leave]
        case .endRoom: return [.endRoom]
        }
    }

    static var song: AccompanimentStatus {
        var song = AccompanimentStatus(path: "/tmp/a.wav")
        (song.title, song.item, song.itemCount, song.duration) = ("Ann – Song", 1, 2, 200)
        (song.isPlaying, song.gain, song.isForAll, song.underrunCount) = (true, 0.5, true, 1)
        song.setPosition(3, at: HostTime(nanoseconds: 5), isMoving: true)
        return song
    }

    static func events(_ name: EventDocument.Name) throws -> [LiveCallEvent.Kind] {
        let participant = participant()
        switch name {
        case .roomFound: return [.roomFound(.test)]
        case .hostSlow: return [.hostSlow]
        case .pinRequested: return [.pinRequested(.missing), .pinRequested(.wrong(attemptsLeft: 2))]
        case .askedAgain: return [.askedAgain(participant)]
        case .roomOpened: return [.roomOpened]
        case .roomJoined: return [.roomJoined]
        case .participantJoined: return [.participantJoined(participant)]
        case .participantLeft: return [.participantLeft(participant, isLost: true)]
        case .participantRenamed: return [.participantRenamed(participant, from: CoreRig.name(5))]
        case .participantMuted: return [.participantMuted(participant)]
        case .participantAway: return [.participantAway(participant)]
        case .hostChanged: return [.hostChanged(participant)]
        case .becameHost: return [.becameHost]
        case .hostLost: return [.hostLost]
        case .hostFound: return [.hostFound]
        case .roomSplit: return [.roomSplit(.test)]
        case .descriptionForged: return [.descriptionForged(participant)]
        case .discovery:
            return [
                .discovery(.starting), .discovery(.advertising(name: "Song #2")), .discovery(.unavailable(.noBus)),
                .discovery(.collision(taken: "Song", trying: "Song #2")), .discovery(.stopped),
            ]
        case .storeFailed: return [.storeFailed(.file("/x", code: 13))]
        case .settingChanged:
            return try LiveCallCommand.Kind.allCases.flatMap { try command($0) }
                .filter { CommandDocument($0) != nil }.map { .settingChanged($0, participant) }
        case .joinRequested: return [.joinRequested(request)]
        case .joinRequestWithdrawn: return [.joinRequestWithdrawn(request, .cancelled)]
        case .guestRefused: return [.guestRefused(name: "Eve", .wrongPIN(attemptsLeft: 1))]
        case .soundStarted, .device, .microphone, .feedback, .voiceProcessing, .monitor, .effects, .muted:
            return sounds(name)
        case .callBegan, .formatChanged, .transportFailed, .mediaMissing, .negotiationFailed, .linkRate:
            return media(name)
        case .recordingStarted, .recordingEnded, .recordingFailed, .participantRecording, .recordingConsentRequested,
            .recordingConsent:
            return recordings(name)
        case .accompaniment: return [.accompaniment(song), .accompaniment(nil)]
        case .accompanimentFailed: return [.accompanimentFailed(.damaged(path: "/tmp/a.wav", reason: "no data"))]
        case .duet:
            var duet = DuetStatus<MemberID>()
            (duet.song, duet.phase) = (SongFile.describe(Beat(tempo: 96), duration: 60), .singing)
            return [.duet(LiveDuetStatus(duet: duet)), .duet(nil)]
        case .messageReceived, .messagesLost, .streamRefused, .transfer: return transfers(name)
        case .ended: return endings.map { .ended($0) }
        }
    }

    static let effects = {
        let units = [UnitType.equalizer.description, UnitType.limiter.description]
        return CallEffectsDescription(units: units, values: units.map(\.defaultValues), latency: 0.001)
    }()

    private static func sounds(_ name: EventDocument.Name) -> [LiveCallEvent.Kind] {
        let choice = VoiceProcessingChoice(
            .on, input: nil, output: nil, channelCount: 1, blockFrameCount: 64, maximumBlockFrameCount: 256)
        let change = RouteChange(
            reason: .newDeviceAvailable, previous: AudioRoute(), current: CallDevice.test.route,
            hostTime: HostTime(nanoseconds: 9), gap: 0.012)
        switch name {
        case .soundStarted:
            return [
                .soundStarted(.test, nil),
                .soundStarted(.test, effects),
            ]
        case .effects: return [.effects(effects), .effects(nil)]
        case .device:
            return [
                .device(.routeChanged(change), .test), .device(.interruptionBegan(.serverGone), .test),
                .device(.interruptionEnded(.deviceTaken(.noSystem), seconds: 2.5), .test),
                .device(.paused(AudioRoute()), .test),
                .device(.deviceUnavailable(.noDevice(name: "x", near: [])), .test),
            ]
        case .microphone: return MicrophoneCheck.Finding.allCases.map { .microphone($0) }
        case .feedback: return [.feedback(hertz: 2_531.4)]
        case .voiceProcessing:
            return [.voiceProcessing(.chosen(choice, latency: 0.03)), .voiceProcessing(.failed(.refused(code: -1)))]
        case .monitor:
            return MonitorMode.allCases.map {
                .monitor(
                    VoiceProcessingChoice(
                        monitor: $0, input: nil, output: nil, hasSeparateInput: false, roundTrip: 0.01))
            }
        default: return [.muted(true), .muted(false)]
        }
    }

    private static func media(_ name: EventDocument.Name) -> [LiveCallEvent.Kind] {
        let participant = participant()
        switch name {
        case .callBegan: return [.callBegan(participant, format)]
        case .formatChanged: return [.formatChanged(participant, format)]
        case .transportFailed:
            return [.transportFailed(participant, .otherKey(expected: CoreRig.key(1), found: CoreRig.key(2)))]
        case .mediaMissing: return [.mediaMissing(participant, port: 47_400)]
        case .negotiationFailed:
            return [
                .negotiationFailed(participant, NegotiationFault.refused),
                .negotiationFailed(participant, CommandRefusal.codecUnavailable(.pcm)),
            ]
        default: return [.linkRate(participant, rate), .linkRate(participant, nil)]
        }
    }

    private static func recordings(_ name: EventDocument.Name) -> [LiveCallEvent.Kind] {
        switch name {
        case .recordingStarted: return [.recordingStarted(folder: "/tmp/take")]
        case .recordingEnded:
            return [
                .recordingEnded(
                    CallRecordingResult(
                        folder: "/tmp/take", seconds: 3.25, mixPath: "/tmp/take/mix.wav", paths: ["/tmp/take/Ann.wav"],
                        gapSeconds: 0.1))
            ]
        case .recordingFailed:
            return [
                .recordingFailed(.folder(path: "/x", code: 13)), .recordingFailed(.system(code: 11)),
                .recordingFailed(.codec(.codecMissing(codec: "aac"))),
                .recordingFailed(.tooManyParticipants(limit: 15)),
                .recordingFailed(.file(.diskFull(path: "/tmp/take/Ann.wav"))),
            ]
        case .participantRecording: return [.participantRecording(participant())]
        case .recordingConsentRequested: return [.recordingConsentRequested([participant(1), participant(2)])]
        default: return [.recordingConsent(participant())]
        }
    }

    private static func transfers(_ name: EventDocument.Name) -> [LiveCallEvent.Kind] {
        func transfer(_ state: FileTransfer.State) -> LiveCallEvent.Kind {
            .transfer(FileTransfer(id: 4, name: "song.wav", byteCount: 9, sender: CoreRig.name(2), state: state))
        }
        let message = ChatMessage(sender: CoreRig.id(2), senderName: CoreRig.name(2), text: "la\nla", byteCount: 5)
        switch name {
        case .messageReceived:
            let other = ChatMessage(sender: CoreRig.id(3), senderName: nil, text: nil, byteCount: 9)
            return [.messageReceived(message), .messageReceived(other)]
        case .messagesLost: return [.messagesLost(to: CoreRig.name(2), count: 2, reason: "gone")]
        case .streamRefused:
            return [.streamRefused(from: nil, stream: "x"), .streamRefused(from: CoreRig.name(2), stream: "x")]
        default:
            return [
                transfer(.declined), transfer(.receiving), transfer(.received(path: "/tmp/song.wav")),
                transfer(.sending), transfer(.sent), transfer(.failed(.declined)),
                transfer(.undelivered([.init(name: CoreRig.name(3), reason: .remoteDiskFull)])),
            ]
        }
    }

    static let endings: [LiveCallEnding] = [
        .left, .duration, .alone, .lastParticipantLost(CoreRig.name(2)), .room(.closed),
        .room(.refused(.full(limit: 8))), .room(.removed(isBlocked: true)),
        .room(.unreached(.timedOut, CoreRig.endpoint)),
        .room(.changedKey(name: CoreRig.name(1), was: CoreRig.key(1), now: CoreRig.key(2))),
        .room(.blockedHost(CoreRig.name(1), CoreRig.key(1))), .room(.noPINWanted(.test)),
        .room(.impostor(CoreRig.key(1))),
        .room(.replaced), .room(.dropped), .room(.lost), .room(.becameHost), .room(.left), .session(.noThread),
        .device(.noSystem), .notPrepared, .noSound(.noDevice, seconds: 30), .codec(.codecMissing(codec: "aac")),
        .noCommonFormat(local: ["opus/48000/2"], remote: ["L16/44100"]),
    ]
}
