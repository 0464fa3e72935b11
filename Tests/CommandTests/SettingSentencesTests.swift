// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotPlayout
import Testing

@testable import EarshotLiveCall
@testable import EarshotRooms
@testable import earshot

/// The sentences about settings that a face changed.
@Suite struct SettingSentencesTests {
    private static func text(_ setting: LiveCallCommand, of participant: Participant? = nil) -> String {
        let event = LiveCallEvent(
            number: 1, time: HostTime(nanoseconds: 0), kind: .settingChanged(setting, participant))
        return EventSentences.text(EventDocument(event))
    }

    private static func event(_ fields: String) throws -> EventDocument {
        let line = #"{"number":1,"time":"","monotonicNanoseconds":0,"event":"settingChanged"\#(fields)}"#
        return try #require(CallJSON.decoded(EventDocument.self, from: Array(line.utf8)))
    }

    @Test func `each changed setting is a sentence with its new value`() throws {
        let id = try #require(MemberID(2))
        let ben = Participant(
            Member(id: id, name: try PeerName("Ben"), key: nil, addresses: [], port: 0), isHost: false)
        let sentences: [(LiveCallCommand, String)] = [
            (.setVolume(0.5, of: id), "Ben: -6 dB"), (.setHeard(false, of: id), "You do not hear Ben."),
            (.setHeard(true, of: id), "You hear Ben."),
        ]
        for (setting, sentence) in sentences { #expect(Self.text(setting, of: ben) == sentence) }
        #expect(
            Self.text(.setOutputVolume(2)) == "Playback: +6 dB" && Self.text(.setLatencyProfile(.sing)) == "Dial: sing")
        #expect(Self.text(.setVoiceProcessing(.off)) == "Voice processing: off")
        #expect(Self.text(.setAdmission(.known)) == "Admission: known guests only")
        #expect(Self.text(.startRecording(folder: nil)) == "Recording starts when another participant joins.")
        #expect(Self.text(.stopRecording) == "Recording cancelled.")
        #expect(Self.text(.allowRecording(true)) == "Others may record your voice.")
        #expect(Self.text(.allowRecording(false)) == "Others may not record your voice.")
    }

    @Test func `a setting of a later version, or a faulty one, is printed by its name`() throws {
        #expect(
            EventSentences.text(try Self.event(#","setting":{"command":"setHarmony","third":true}"#)) == "setHarmony")
        #expect(EventSentences.text(try Self.event(#","setting":{"command":"setVolume"}"#)) == "setVolume")
        #expect(EventSentences.text(try Self.event("")) == "")
    }

    @Test(arguments: [("declined", "Declined Cleo."), ("blocked", "Blocked Cleo."), ("cancelled", "She left.")])
    func `an answered join request is a sentence`(code: String, sentence: String) throws {
        let line =
            #"{"number":1,"time":"","monotonicNanoseconds":0,"event":"joinRequestWithdrawn","request":{"id":7,"#
            + #""name":"Cleo","address":"::1","isKnown":false},"error":{"code":"\#(code)","text":"She left."}}"#
        let event = try #require(CallJSON.decoded(EventDocument.self, from: Array(line.utf8)))
        #expect(EventSentences.text(event) == sentence)
    }
}
