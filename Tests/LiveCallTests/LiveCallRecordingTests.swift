// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioFiles
import EarshotNearby
import Foundation
import TestSupport
import Testing

@testable import EarshotLiveCall
@testable import EarshotRooms

/// The local recording, the recordings of others, and the consent to them.
@Suite(.timeLimit(.minutes(10))) struct LiveCallRecordingTests {
    private static let full = AudioFileError.diskFull(path: "/takes/Ann.wav")
    private static let result = CallRecordingResult(
        folder: "/takes", seconds: 3, mixPath: "/takes/mix.wav", paths: ["/takes/Ann.wav"], gapSeconds: 0)

    private static func member(
        _ number: UInt64, isMuted: Bool = false, isRecording: Bool = false, allowsRecording: Bool? = nil
    ) -> Member {
        var member = CoreRig.member(number, isMuted: isMuted)
        (member.isRecording, member.allowsRecording) = (isRecording, allowsRecording)
        return member
    }

    /// Bob in Ann's room, with sound.
    private static func guest(_ consent: RecordingConsent = .ask) -> CoreRig {
        var rig = CoreRig { $0.recordingConsent = consent }
        rig.joinAsGuest()
        rig.startSound()
        return rig
    }

    /// Bob, who records.
    private static func recorder() throws -> CoreRig {
        var rig = guest()
        try rig.perform(.startRecording(folder: "/takes"))
        rig.handle(.recordingStarted(folder: "/takes"))
        return rig
    }

    /// The events about recordings, as text.
    private static func report(_ rig: CoreRig) -> [String] { rig.events.compactMap { text($0.kind) } }

    private static func text(_ event: LiveCallEvent.Kind) -> String? {
        switch event {
        case .recordingStarted(let folder): "started \(folder)"
        case .recordingEnded(let result): "ended \(result.folder)"
        case .recordingFailed(.folder(let path, let code)): "no folder \(path): \(code)"
        case .recordingFailed(let error): "failed: \(error)"
        case .participantRecording(let one): "\(one.name) \(one.isRecording ? "records" : "no longer records")"
        case .recordingConsentRequested(let all): "may \(all.map(\.name.text).joined(separator: ", "))?"
        case .recordingConsent(let one):
            "\(one.name) \(one.allowsRecording.map { $0 ? "allows" : "declines" } ?? "has no answer")"
        case .ended: "over"
        default: nil
        }
    }

    // MARK: The local recording

    @Test func `a recording waits for the sound`() throws {
        var rig = CoreRig { $0.staysAlone = true }
        rig.host()
        try rig.perform(.startRecording(folder: "/takes"))
        rig.wait(1)
        #expect(rig.snapshot.isRecordingAwaited && rig.snapshot.recording == nil && rig.actions.media.isEmpty)
        rig.change(to: [CoreRig.member(1), CoreRig.member(2)])
        #expect(rig.actions.media == ["start"])
        rig.startSound()
        #expect(rig.actions.media == ["start", "record to /takes"] && rig.snapshot.isRecordingAwaited)
        rig.handle(.recordingStarted(folder: "/takes"))
        #expect(!rig.snapshot.isRecordingAwaited && rig.snapshot.recording?.folder == "/takes")
        rig.wait(1)
        #expect(rig.actions.media.count == 2)
    }

    @Test func `during the call a recording starts at once, and without a folder in the user's music`() throws {
        var rig = Self.guest()
        try rig.perform(.startRecording(folder: nil))
        #expect(rig.actions.media == ["start", "record to music"] && rig.snapshot.isRecordingAwaited)
    }

    @Test func `a recording that was stopped before the sound does not begin, and another may`() throws {
        var rig = CoreRig { $0.staysAlone = true }
        rig.host()
        try rig.perform(.startRecording(folder: nil))
        try rig.perform(.stopRecording)
        #expect(!rig.snapshot.isRecordingAwaited && rig.refusal(of: .stopRecording) == .notRecording)
        rig.change(to: [CoreRig.member(1), CoreRig.member(2)])
        rig.startSound()
        #expect(rig.actions.media == ["start"])
        try rig.perform(.startRecording(folder: "/takes"))
        #expect(rig.actions.media == ["start", "record to /takes"])
    }

    @Test func `a recording is refused outside a room, without sound and after the end`() throws {
        var idle = CoreRig()
        #expect(idle.refusal(of: .startRecording(folder: nil)) == .notInRoom)
        #expect(idle.refusal(of: .stopRecording) == .notInRoom)
        var silent = CoreRig(hasSound: false) { $0.staysAlone = true }
        silent.host()
        #expect(silent.refusal(of: .startRecording(folder: nil)) == .noSound)
        var over = Self.guest()
        try over.perform(.leave)
        #expect(over.refusal(of: .startRecording(folder: nil)) == .ended)
    }

    @Test func `a second recording is refused from the first command to the first recording's end`() throws {
        var rig = CoreRig { $0.staysAlone = true }
        rig.host()
        let start = LiveCallCommand.startRecording(folder: "/takes")
        try rig.perform(start)
        #expect(rig.refusal(of: start) == .alreadyRecording)
        rig.change(to: [CoreRig.member(1), CoreRig.member(2)])
        rig.startSound()
        #expect(rig.refusal(of: start) == .alreadyRecording)
        rig.handle(.recordingStarted(folder: "/takes"))
        #expect(rig.refusal(of: start) == .alreadyRecording)
        try rig.perform(.stopRecording)
        #expect(rig.refusal(of: start) == .alreadyRecording)
        rig.handle(.recordingEnded(Self.result))
        #expect(rig.refusal(of: start) == nil)
        #expect(rig.actions.media == ["start", "record to /takes", "stop recording", "record to /takes"])
    }

    @Test func `the room is told of a recording's beginning and end`() throws {
        var rig = Self.guest()
        try rig.perform(.startRecording(folder: "/takes"))
        #expect(rig.snapshot.recording == nil && !rig.actions.room.contains("tell recording"))
        rig.wait(0.2)
        rig.handle(.recordingStarted(folder: "/takes"))
        #expect(rig.snapshot.recording == CallRecordingStatus(folder: "/takes", since: rig.now))
        #expect(rig.actions.room == ["join", "tell recording"])
        rig.wait(3)
        try rig.perform(.stopRecording)
        try rig.perform(.stopRecording)
        #expect(rig.actions.media == ["start", "record to /takes", "stop recording"])
        #expect(rig.snapshot.recording != nil, "its files are not complete yet")
        rig.handle(.recordingEnded(Self.result))
        #expect(rig.snapshot.recording == nil && rig.refusal(of: .stopRecording) == .notRecording)
        #expect(rig.actions.room == ["join", "tell recording", "tell not recording"])
        #expect(Self.report(rig) == ["started /takes", "ended /takes"])
    }

    @Test func `after a failed start nothing is recorded, and another recording may start`() throws {
        var rig = Self.guest()
        try rig.perform(.startRecording(folder: "/takes"))
        rig.handle(.recordingFailed(.folder(path: "/takes", code: EACCES), isOver: true))
        #expect(rig.snapshot.recording == nil && rig.refusal(of: .stopRecording) == .notRecording)
        #expect(rig.actions.room == ["join"], "nobody sees a recording that never was")
        try rig.perform(.startRecording(folder: "/others"))
        #expect(rig.actions.media == ["start", "record to /takes", "record to /others"])
        #expect(Self.report(rig) == ["no folder /takes: \(EACCES)"])
    }

    @Test func `a file that ends early does not end the recording`() throws {
        var rig = try Self.recorder()
        rig.handle(.recordingFailed(.file(Self.full), isOver: false))
        #expect(rig.snapshot.recording?.folder == "/takes" && rig.snapshot.isInRoom)
        try rig.perform(.stopRecording)
        #expect(rig.actions.media.last == "stop recording")
        #expect(Self.report(rig).count == 2)
    }

    @Test func `a recording that ends by itself is reported, and the call goes on`() throws {
        var rig = try Self.recorder()
        rig.handle(.recordingFailed(.file(Self.full), isOver: false))
        rig.handle(.recordingEnded(Self.result))
        #expect(rig.snapshot.recording == nil && rig.snapshot.isInRoom && rig.actions.room.last == "tell not recording")
        #expect(rig.refusal(of: .startRecording(folder: nil)) == nil)
    }

    @Test func `a recording that the call's end completes is reported before the end`() throws {
        var rig = try Self.recorder()
        try rig.perform(.leave)
        #expect(rig.actions.media.last == "stop" && rig.actions.room.last == "close")
        rig.handle(.recordingFailed(.file(Self.full), isOver: false))
        rig.handle(.recordingEnded(Self.result))
        #expect(rig.snapshot.recording == nil && rig.actions.room.last == "close", "the room hears no more")
        rig.handle(.roomClosed)
        let failure = "failed: \(CallRecordingError.file(Self.full))"
        #expect(Self.report(rig) == ["started /takes", failure, "ended /takes", "over"])
        // No event follows the last one.
        rig.handle(.recordingEnded(Self.result))
        #expect(Self.report(rig).last == "over")
    }

    // MARK: Recordings of others

    @Test func `a participant who records is reported once, and again at the end`() {
        var rig = Self.guest(.no)
        rig.change(to: [Self.member(1, isRecording: true), Self.member(2)])
        #expect(rig.snapshot.participants.map(\.isRecording) == [true])
        rig.wait(0.2)
        rig.change(to: [Self.member(1, isMuted: true, isRecording: true), Self.member(2)])
        #expect(Self.report(rig) == ["Ann records"])
        rig.change(to: [Self.member(1), Self.member(2)])
        rig.wait(0.2)
        #expect(Self.report(rig) == ["Ann records", "Ann no longer records"])
        rig.change(to: [Self.member(1), Self.member(2), Self.member(3, isRecording: true)])
        rig.change(to: [Self.member(1), Self.member(2)])
        #expect(Self.report(rig) == ["Ann records", "Ann no longer records", "Cid records"], "Cid left")
    }

    @Test func `who records already is reported when one joins, but not oneself`() throws {
        var rig = CoreRig { $0.recordingConsent = .yes }
        try rig.perform(.join(CoreRig.endpoint))
        let members = [Self.member(1, isRecording: true), Self.member(2, isRecording: true), Self.member(3)]
        rig.handle(.room(.joined(rig.makeRoster(members, host: 1), as: CoreRig.id(2))))
        rig.wait(0.2)
        #expect(Self.report(rig) == ["Ann records"])
        #expect(rig.actions.room == ["join", "tell allowed"])
    }

    @Test func `the user is asked once, until the answer`() throws {
        var rig = Self.guest()
        #expect(!rig.snapshot.isRecordingConsentRequested)
        rig.change(to: [Self.member(1, isRecording: true), Self.member(2)])
        #expect(rig.snapshot.isRecordingConsentRequested && rig.snapshot.allowsRecording == nil)
        rig.wait(1)
        rig.change(to: [Self.member(1, isMuted: true, isRecording: true), Self.member(2)])
        #expect(Self.report(rig) == ["Ann records", "may Ann?"] && rig.snapshot.isRecordingConsentRequested)
        #expect(rig.actions.room == ["join"], "nothing is answered for the user")
        try rig.perform(.allowRecording(true))
        #expect(!rig.snapshot.isRecordingConsentRequested && rig.snapshot.allowsRecording == true)
        #expect(rig.actions.room == ["join", "tell allowed"])
        // The same answer is not told twice, and another one is.
        try rig.perform(.allowRecording(true))
        try rig.perform(.allowRecording(false))
        #expect(rig.snapshot.allowsRecording == false)
        #expect(rig.actions.room == ["join", "tell allowed", "tell declined"])
    }

    @Test(arguments: [true, false])
    func `after an answer nobody asks again: neither another recorder nor the same one later`(isAllowed: Bool) throws {
        var rig = Self.guest()
        rig.change(to: [Self.member(1, isRecording: true), Self.member(2)])
        try rig.perform(.allowRecording(isAllowed))
        rig.change(to: [Self.member(1, isRecording: true), Self.member(2), Self.member(3, isRecording: true)])
        rig.change(to: [Self.member(1), Self.member(2), Self.member(3, isRecording: true)])
        rig.change(to: [Self.member(1, isRecording: true), Self.member(2), Self.member(3, isRecording: true)])
        #expect(
            Self.report(rig) == ["Ann records", "may Ann?", "Cid records", "Ann no longer records", "Ann records"])
        #expect(!rig.snapshot.isRecordingConsentRequested && rig.snapshot.allowsRecording == isAllowed)
        #expect(rig.actions.room == ["join", "tell \(isAllowed ? "allowed" : "declined")"])
    }

    @Test func `a question that is not answered ends with the recording`() {
        var rig = Self.guest()
        rig.change(to: [Self.member(1, isRecording: true), Self.member(2)])
        rig.change(to: [Self.member(1), Self.member(2)])
        #expect(!rig.snapshot.isRecordingConsentRequested && rig.snapshot.allowsRecording == nil)
        #expect(rig.actions.room == ["join"])
        // The next recording asks again.
        rig.change(to: [Self.member(1), Self.member(2), Self.member(3, isRecording: true)])
        #expect(rig.snapshot.isRecordingConsentRequested)
        #expect(Self.report(rig) == ["Ann records", "may Ann?", "Ann no longer records", "Cid records", "may Cid?"])
    }

    @Test func `without sound, a participant declines without being asked`() {
        var rig = CoreRig(hasSound: false)
        rig.joinAsGuest()
        rig.change(to: [Self.member(1, isRecording: true), Self.member(2)])
        #expect(!rig.snapshot.isRecordingConsentRequested && Self.report(rig) == ["Ann records"])
        #expect(rig.snapshot.allowsRecording == false)
    }

    @Test func `the local participant shows its own state, whatever the roster says`() throws {
        var rig = try Self.recorder()
        try rig.perform(.allowRecording(false))
        rig.change(to: [Self.member(1), Self.member(2, isRecording: false, allowsRecording: true)])
        #expect(rig.snapshot.localParticipant?.isRecording == true)
        #expect(rig.snapshot.localParticipant?.allowsRecording == false)
    }

    @Test func `a recording that begins after the call's end is reported, and the room hears nothing of it`() throws {
        var rig = Self.guest()
        try rig.perform(.startRecording(folder: "/takes"))
        try rig.perform(.leave)
        let asked = rig.actions.room
        rig.handle(.recordingStarted(folder: "/takes"))
        rig.handle(.recordingEnded(Self.result))
        #expect(Self.report(rig) == ["started /takes", "ended /takes"] && rig.actions.room == asked)
        #expect(!rig.snapshot.isRecordingAwaited && rig.snapshot.recording == nil)
    }

    @Test func `an answer before the question answers it`() throws {
        var rig = CoreRig()
        try rig.perform(.allowRecording(false))
        #expect(rig.snapshot.allowsRecording == false && rig.actions.room == ["tell declined"])
        rig.joinAsGuest()
        rig.change(to: [Self.member(1, isRecording: true), Self.member(2)])
        #expect(Self.report(rig) == ["Ann records"] && rig.actions.room == ["tell declined", "join"])
    }

    @Test(arguments: [(RecordingConsent.yes, "tell allowed"), (.no, "tell declined")])
    func `a setting answers by itself, once, when somebody records`(consent: RecordingConsent, answer: String) {
        var rig = Self.guest(consent)
        rig.wait(1)
        #expect(rig.actions.room == ["join"] && rig.snapshot.allowsRecording == nil, "nobody records yet")
        rig.change(to: [Self.member(1, isRecording: true), Self.member(2)])
        #expect(rig.actions.room == ["join", answer] && rig.snapshot.allowsRecording == (consent == .yes))
        rig.change(to: [Self.member(1, isRecording: true), Self.member(2), Self.member(3, isRecording: true)])
        #expect(rig.actions.room == ["join", answer])
        #expect(Self.report(rig) == ["Ann records", "Cid records"] && !rig.snapshot.isRecordingConsentRequested)
    }

    @Test func `the answers of others are reported, but not one's own`() {
        var rig = Self.guest()
        rig.change(to: [Self.member(1), Self.member(2), Self.member(3)])
        rig.change(to: [Self.member(1), Self.member(2, allowsRecording: true), Self.member(3)])
        #expect(Self.report(rig).isEmpty)
        rig.change(to: [Self.member(1), Self.member(2), Self.member(3, allowsRecording: true)])
        #expect(rig.snapshot[CoreRig.id(3)]?.allowsRecording == true)
        rig.change(to: [Self.member(1), Self.member(2), Self.member(3, allowsRecording: false)])
        // A participant who has not answered again after a return.
        rig.change(to: [Self.member(1), Self.member(2), Self.member(3)])
        #expect(Self.report(rig) == ["Cid allows", "Cid declines", "Cid has no answer"])
    }

    // MARK: The thread and the files

    /// Bob in Ann's room, with media of the tests, in which a recording to a folder runs.
    private struct Call {
        let folder = NSTemporaryDirectory() + "earshot-live-recording-\(UUID().uuidString)"
        let room = TestRoom()
        let media = TestMedia()
        let call: LiveCall

        init() async throws {
            call = try LiveCall(LiveCall.Configuration(), room: room, sound: (media, TestDevice()))
            try call.perform(.join(CoreRig.endpoint))
            let roster = CoreRig().makeRoster([CoreRig.member(1), CoreRig.member(2)], host: 1)
            room.eventContinuation.yield(.joined(roster, as: CoreRig.id(2)))
            try await record()
        }

        /// Starts a recording to the folder.
        func record() async throws {
            let call = call
            try #require(await happens { call.snapshot.isInRoom })
            try call.perform(.startRecording(folder: folder))
            try #require(await happens { call.snapshot.recording != nil })
        }

        func delete() { try? FileManager.default.removeItem(atPath: folder) }
    }

    @Test func `leaving stops the device, then completes the recording, then ends the call`() async throws {
        let rig = try await Call()
        defer { rig.delete() }
        #expect(rig.call.snapshot.recording?.folder == rig.folder)
        await rig.call.close()
        #expect(rig.media.asked == ["unmute", "start", "start recording", "stop", "end recording"])
        let events = rig.call.pastEvents(after: 0).compactMap { Self.text($0.kind) }
        #expect(events == ["started \(rig.folder)", "ended \(rig.folder)", "over"])
        let files = try FileManager.default.contentsOfDirectory(atPath: rig.folder).sorted()
        #expect(files == ["Ann.wav", "Bob.wav", "mix.wav", "recording.json"])
        #expect(rig.call.snapshot.recording == nil)
    }

    @Test func `a call can be recorded twice, and the second recording has a folder in the first's`() async throws {
        let rig = try await Call()
        defer { rig.delete() }
        let call = rig.call
        try call.perform(.stopRecording)
        #expect(await happens { call.snapshot.recording == nil })
        try await rig.record()
        let second = try #require(call.snapshot.recording?.folder)
        #expect(second.hasPrefix(rig.folder + "/20") && second.hasSuffix(" Ann"), "\(second)")
        await call.close()
        #expect(
            rig.media.asked.filter { $0.hasSuffix("recording") } == [
                "start recording", "end recording", "start recording", "end recording",
            ])
        #expect(
            rig.room.asked == ["join", "tell recording true", "tell recording false", "tell recording true", "close"])
        #expect(FileManager.default.fileExists(atPath: "\(second)/mix.wav"))
    }

    @Test func `a folder in which no files can be created is refused at once, and the call goes on`() async throws {
        let rig = try await Call()
        defer { rig.delete() }
        let call = rig.call
        try call.perform(.stopRecording)
        #expect(await happens { call.snapshot.recording == nil })
        let file = "\(rig.folder)/mix.wav"
        for (folder, code) in [(file, ENOTDIR), ("\(file)/takes", ENOTDIR), ("/proc/takes", ENOENT)] {
            #expect(throws: CommandRefusal.folderNotWritable(path: folder, code: code)) {
                try call.perform(.startRecording(folder: folder))
            }
        }
        #expect(call.snapshot.isInRoom && call.snapshot.recording == nil && !call.snapshot.isRecordingAwaited)
        #expect(FileManager.default.fileExists(atPath: file))
        try await rig.record()
        #expect(throws: CommandRefusal.alreadyRecording) { try call.perform(.startRecording(folder: file)) }
        await call.close()
        #expect(throws: CommandRefusal.ended) { try call.perform(.startRecording(folder: file)) }
        #expect(
            rig.media.asked.filter { $0.hasSuffix("recording") } == [
                "start recording", "end recording", "start recording", "end recording",
            ])
    }

    @Test func `a folder is checked while the recording waits for another participant`() async throws {
        let room = TestRoom()
        var configuration = LiveCall.Configuration()
        configuration.staysAlone = true
        let call = try LiveCall(configuration, room: room, sound: (TestMedia(), TestDevice()))
        try call.perform(.host(CoreRig.opening))
        let roster = CoreRig().makeRoster([CoreRig.member(1)], host: 1)
        room.eventContinuation.yield(.joined(roster, as: CoreRig.id(1)))
        try #require(await happens { call.snapshot.isInRoom })
        #expect(throws: CommandRefusal.folderNotWritable(path: "/proc/takes", code: ENOENT)) {
            try call.perform(.startRecording(folder: "/proc/takes"))
        }
        #expect(!call.snapshot.isRecordingAwaited)
        try call.perform(.startRecording(folder: NSTemporaryDirectory()))
        #expect(call.snapshot.isRecordingAwaited)
        await call.close()
    }
}
