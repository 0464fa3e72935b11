// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Foundation
import TestSupport
import Testing

@testable import EarshotLiveCall

/// Events as JSON.
@Suite struct EventDocumentTests {
    @Test(arguments: EventDocument.Name.allCases)
    func `each event is one line of JSON with its name, and is the same after it was read`(
        name: EventDocument.Name
    ) throws {
        let kinds = try DocumentExamples.events(name)
        #expect(!kinds.isEmpty)
        for kind in kinds {
            let event = LiveCallEvent(number: 17, time: HostTime(nanoseconds: 81_234_567_890_123), kind: kind)
            let written = EventDocument(event)
            #expect(written.event == name.rawValue && written.number == 17)
            let line = CallJSON.line(written)
            #expect(!line.contains(UInt8(ascii: "\n")))
            #expect(CallJSON.decoded(EventDocument.self, from: line) == written)
        }
    }

    @Test func `a changed setting has its command and the participant of a volume, and a mute its value`() {
        func written(_ kind: LiveCallEvent.Kind) -> EventDocument {
            EventDocument(LiveCallEvent(number: 1, time: HostTime(nanoseconds: 1), kind: kind))
        }
        let command = LiveCallCommand.setVolume(0.5, of: CoreRig.id(2))
        let volume = written(.settingChanged(command, Participant(CoreRig.member(2), isHost: false)))
        #expect(volume.setting == CommandDocument(command) && volume.participant?.name == "Bob")
        #expect(written(.settingChanged(.setOutputVolume(0.5), nil)).participant == nil)
        #expect([true, false].map { written(.muted($0)).isMuted } == [true, false])
    }

    @Test func `the time of an event is a date and the nanoseconds of the monotonic clock`() {
        let event = LiveCallEvent(number: 1, time: HostTime(nanoseconds: 2_500_000_000), kind: .hostSlow)
        let written = EventDocument(
            event, now: HostTime(nanoseconds: 5_000_000_000), date: Date(timeIntervalSince1970: 1_700_000_002.75))
        #expect(written.time == "2023-11-14T22:13:20.250Z" && written.monotonicNanoseconds == 2_500_000_000)
    }

    @Test func `each ending has a code of its own, in lower case with hyphens, and a sentence`() throws {
        for ending in DocumentExamples.endings {
            let error = ErrorDocument(ending)
            #expect(error.code.allSatisfy { $0.isLowercase || $0 == "-" } && !error.text.isEmpty, "\(error)")
        }
        #expect(ErrorDocument(LiveCallEnding.room(.refused(.declined))).code == "declined")
        #expect(ErrorDocument(LiveCallEnding.room(.removed(isBlocked: false))).code == "removed")
        let codes = Set(DocumentExamples.endings.map { ErrorDocument($0).code })
        #expect(codes.count >= DocumentExamples.endings.count - 1)  // `left` may come from two sides
    }

    @Test func `every event is on the page of the protocol, by its name`() throws {
        let page = try document("call-events.md")
        let missing = EventDocument.Name.allCases.filter { !page.contains("`\($0.rawValue)`") }
        #expect(missing == [])
    }

    /// Returns the names of all fields of a JSON value.
    private static func fields(_ value: Any) -> Set<String> {
        switch value {
        case let object as [String: Any]: object.values.reduce(into: Set(object.keys)) { $0.formUnion(fields($1)) }
        case let list as [Any]: list.reduce(into: []) { $0.formUnion(fields($1)) }
        default: []
        }
    }

    @Test func `every field of an event is on the page of the protocol`() throws {
        let page = try document("call-events.md")
        var names: Set<String> = []
        for kind in try EventDocument.Name.allCases.flatMap({ try DocumentExamples.events($0) }) {
            let event = LiveCallEvent(number: 1, time: HostTime(nanoseconds: 5), kind: kind)
            let line = CallJSON.line(EventDocument(event))
            names.formUnion(Self.fields(try JSONSerialization.jsonObject(with: Data(line))))
        }
        let missing = names.filter { !page.contains("`\($0)`") && !page.contains("\"\($0)\"") }
        #expect(missing.sorted() == [] && names.count > 60)
    }

    @Test func `every refusal of a command has a code that is on the page of the protocol`() throws {
        let page = try document("call-events.md")
        let refusals: [CommandRefusal] = [
            .notInRoom, .alreadyInRoom, .ended, .notHost, .noJoinRequest, .noParticipant, .noPINRequest, .noSound,
            .noVoiceProcessing, .noMonitor, .alreadyRecording, .notRecording, .noReceiver, .emptyMessage,
            .messageTooLong(limit: 9), .messagesWaiting, .folderNotWritable(path: "/proc/takes", code: 13),
            .codecUnavailable(.pcm), .deviceUnavailable(.noSystem), .effect(.noUnit("x", near: [])),
            .effect(.noParameter(unit: "x", name: "y", near: ["z"])),
            .effect(.noPreset(unit: "x", name: "y", presets: [])),
            .effect(.wrongSetting(unit: "x", parameter: nil, text: "y")), .effect(.unitFailed(node: "x", reason: "y")),
        ]
        for refusal in refusals { #expect(page.contains("`\(ErrorDocument(refusal).code)`"), "\(refusal)") }
        #expect(Set(refusals.map { ErrorDocument($0).code }).count == refusals.count)
    }
}
