// SPDX-License-Identifier: Apache-2.0

import EarshotAudioFiles
import Foundation
import TestSupport
import Testing

@testable import EarshotLiveCall
@testable import earshot

/// Tests the options of `host` and `join` for recordings.
@Suite struct RecordingOptionsTests {
    private func join(_ options: String...) throws -> CallOptions {
        try #require(try EarshotCommand.parseAsRoot(["join", "127.0.0.1"] + options) as? JoinCommand).call
    }

    @Test func `--record needs no folder, and takes the word that follows as its folder`() throws {
        #expect(try join().recording.record == nil)
        let standard = try join("--record", "--json")
        #expect(standard.recording.record == "" && standard.recording.folder == nil && standard.json)
        #expect(try join("--json", "--record").recording.record == "")
        #expect(try join("--record", "/takes/1").recording.folder == "/takes/1")
        #expect(try join("--record=Takes", "--record-raw").recording.folder?.hasSuffix("/Takes") == true)
        let arguments = ["host", "Studio", "--record", "Takes"]
        let host = try #require(try EarshotCommand.parseAsRoot(arguments) as? HostCommand)
        #expect(host.room == "Studio" && host.call.recording.record == "Takes")
    }

    @Test(arguments: FileKinds.names)
    func `--record-format takes every format`(kind: String) throws {
        for name in [kind, kind.uppercased()] {
            let configuration = try join("--record-format", name).configuration(canAsk: true)
            #expect(configuration.recording.type == FileKinds.all[kind])
        }
    }

    @Test func `the format, the parts and the raw voice also apply to recordings that a key starts`() throws {
        let configuration = try join("--record-split", "10m", "--record-raw").configuration(canAsk: true)
        #expect(configuration.recording.partDuration == 600 && configuration.recording.recordsRawVoice)
        #expect(configuration.recording.type == FileKinds.all["wav"])
        let plain = try join().configuration(canAsk: true)
        #expect(plain.recording.partDuration == nil && !plain.recording.recordsRawVoice)
    }

    @Test(
        arguments: [
            ([], true, .ask), ([], false, .no), (["--allow-recording", "ask"], false, .no),
            (["--allow-recording", "yes"], true, .yes), (["--allow-recording", "yes"], false, .yes),
            (["--allow-recording", "no"], true, .no),
        ] as [([String], Bool, RecordingConsent)])
    func `others may record the local voice after a question, or by option without a terminal`(
        options: [String], canAsk: Bool, consent: RecordingConsent
    ) throws {
        let call = try CallOptions.parse(["--device", "simulated"] + options)
        #expect(call.configuration(canAsk: canAsk).recordingConsent == consent)
    }

    @Test(arguments: [
        (
            ["host", "--record", "Takes"],
            "Is 'Takes' the room or the folder? Put the room before --record, or write ./Takes for the folder."
        ),
        (
            ["join", "--record=Studio"],
            "Is 'Studio' the room or the folder? Put the room before --record, or write ./Studio for the folder."
        ),
        (
            ["join", "x", "--record-format", "wma"],
            "Unknown format '.wma'. Formats: aac, aiff, caf, flac, m4a, mp3, ogg, opus, wav."
        ),
        (
            ["host", "--record-split", "0.05"],
            "--record-split cannot be '0.05': use a time from 0.1 s to one year, such as 30s, 10m or 1h."
        ),
        (
            ["host", "--record-split", "9000h"],
            "--record-split cannot be '9000h': use a time from 0.1 s to one year, such as 30s, 10m or 1h."
        ),
        (["host", "--allow-recording", "maybe"], "--allow-recording cannot be 'maybe'. Choose ask, yes or no."),
        (["chat", "x", "--record"], "Unknown option '--record'. See: earshot chat --help"),
        (
            ["forecast", "x", "--allow-recording", "yes"],
            "Unknown option '--allow-recording'. See: earshot forecast --help"
        ),
    ]) func `a wrong option for recordings is reported in one sentence with advice`(arguments: [String], line: String)
        throws
    {
        let program = try Earshot.start(arguments)
        #expect(program.wait() == .exit(64))
        #expect(program.errors == "error: \(line)\n")
    }

    @Test(arguments: [".", "..", "./Takes", "/takes", "a/b"])
    func `a folder with a slash needs no room before it`(folder: String) throws {
        let host = try #require(try EarshotCommand.parseAsRoot(["host", "--record", folder]) as? HostCommand)
        #expect(host.call.recording.record == folder)
    }

    @Test func `a file in place of the folder is reported before the call`() throws {
        let scratch = try Scratch()
        try Data("x".utf8).write(to: URL(fileURLWithPath: scratch("file")))
        let program = try Earshot.start(["host", "Studio", "--device", "simulated", "--record", scratch("file")])
        #expect(program.wait() == .exit(73), "\(program.errors)")
        let advice = "Choose another name or an existing folder."
        #expect(theFailure(program) == "error: --record \(scratch("file")): not a folder. \(advice)")
    }

    @Test func `the help of a call has a section about recording, and the short help has --record`() {
        for command in ["host", "join"] {
            let page = EarshotCommand.helpPage([command])
            let lines = page.text(columns: 80, isShort: false, hasColour: false)
            let full = lines.split { $0.isWhitespace }.joined(separator: " ")
            #expect(lines.contains("\nRecording:\n") && full.contains("--allow-recording <answer>"))
            #expect(full.contains("[default: ask on a terminal, otherwise no]") && full.contains("[default: wav]"))
            #expect(page.text(columns: 80, isShort: true, hasColour: false).contains("--record <folder>"))
        }
    }

    @Test func `the mix is played on the loudspeaker of the call`() throws {
        let player = try join("--device", "simulated", "--speaker", "Headphones").player(of: "/takes/mix.wav")
        #expect(player.files == ["/takes/mix.wav"])
        #expect(player.card.card.device == .simulated && player.card.loudspeaker.speaker == "Headphones")
    }
}

/// Tests the sentences about recordings.
@Suite struct RecordingSentencesTests {
    @Test func `the start of a recording says where it is and who sees it`() {
        #expect(
            RecordingSentences.started("/takes", seenBy: ["Ann", "Ben"], hasKeys: true)
                == "Recording to /takes. Ann and Ben see that you record. Press r to stop.")
        #expect(
            RecordingSentences.started("/takes", seenBy: ["Ann"], hasKeys: false)
                == "Recording to /takes. Ann sees that you record.")
        #expect(
            RecordingSentences.started("/takes", seenBy: [], hasKeys: false)
                == "Recording to /takes. Guests will see that you record.")
        #expect(RecordingSentences.list(["Ann", "Ben", "Cleo"]) == "Ann, Ben and Cleo")
    }

    @Test func `a recording with silent voices names each participant who has not answered or declined`() {
        #expect(RecordingSentences.silent(undecided: [], declined: []).isEmpty)
        #expect(
            RecordingSentences.silent(undecided: ["Ann"], declined: ["Ben"]) == [
                "Ann has not answered. Until then Ann is silent in the recording.",
                "Ben declined and is silent in the recording.",
            ])
        #expect(
            RecordingSentences.silent(undecided: ["Ann", "Ben"], declined: ["Cleo", "Dan"]) == [
                "Ann and Ben have not answered. Until then they are silent in the recording.",
                "Cleo and Dan declined and are silent in the recording.",
            ])
        #expect(RecordingSentences.allowed("Ann") == "Ann allows recording.")
    }

    @Test func `the end of a recording gives its length, its folder and its silent parts`() {
        func ended(_ seconds: Double, gaps: Double) -> String {
            RecordingSentences.ended(
                CallRecordingResult(
                    folder: "/takes", seconds: seconds, mixPath: "/takes/mix.wav", paths: ["/takes/Ann.wav"],
                    gapSeconds: gaps))
        }
        #expect(ended(192.4, gaps: 0) == "Recorded 3:12 to /takes")
        #expect(
            ended(192.4, gaps: 2.14)
                == "Recorded 3:12 to /takes\nSilent parts: 2.1 s, all voices together. recording.json lists them.")
        #expect(ended(0, gaps: 0) == "Nothing recorded: the call had no sound.")
    }

    @Test func `a participant who records is named, with the local answer and the option that would allow it`() {
        func began(_ isAllowed: Bool?, isAsked: Bool, _ command: String = "join") -> String {
            RecordingSentences.began("Ann", isAllowed: isAllowed, isAsked: isAsked, command: command)
        }
        #expect(began(nil, isAsked: true) == "Ann is recording the call.")
        #expect(began(true, isAsked: false) == "Ann is recording the call, including your voice.")
        #expect(began(false, isAsked: true) == "Ann is recording the call without your voice.")
        for command in ["host", "join"] {
            #expect(
                began(false, isAsked: false, command) == "Ann is recording the call without your voice. "
                    + "To allow it, \(command) with --allow-recording yes.")
        }
        #expect(RecordingSentences.stopped("Ann") == "Ann stopped recording.")
    }

    @Test func `the question about the voice is for everyone, names its keys, and says that join requests come first`()
    {
        #expect(
            RecordingSentences.question(["Ann"], hasJoinRequests: false)
                == "Ann wants to record. Let everyone here record your voice? y yes, n no")
        #expect(
            RecordingSentences.question(["Ann", "Ben"], hasJoinRequests: true)
                == "Ann and Ben want to record. Let everyone here record your voice? y yes, n no "
                + "(answer the join requests first)")
        #expect(RecordingSentences.answered(isAllowed: true) == "Your voice will be recorded.")
        #expect(RecordingSentences.answered(isAllowed: false) == "Your voice is not recorded.")
    }

    @Test(arguments: [
        (
            CallRecordingError.folder(path: "/takes", code: EACCES),
            "Cannot record to /takes: Permission denied. Restart with another folder: --record FOLDER"
        ),
        (
            .file(.diskFull(path: "/takes/Ann.wav")),
            "Cannot go on recording /takes/Ann.wav: the disk is full (the written part is playable). "
                + "Free some space. The call goes on."
        ),
        (
            .tooManyParticipants(limit: 64),
            "The recording has 64 participants, the most it can have. Later ones are not recorded."
        ),
        (.system(code: EMFILE), "Cannot record: Too many open files. To try again, press r."),
    ]) func `a recording that fails is reported with advice`(error: CallRecordingError, text: String) {
        #expect(error.text == text)
    }

    @Test func `the report names the recording's files`() throws {
        let result = CallRecordingResult(
            folder: "/takes", seconds: 2.5, mixPath: "/takes/mix.wav", paths: ["/takes/Ann.wav", "/takes/Ben.wav"],
            gapSeconds: 0.5)
        let text = try CallReport.Recording(result).json()
        let object = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
        let keys = try #require(object).keys.sorted()
        #expect(keys == ["files", "folder", "gapSeconds", "mix", "seconds"])
        #expect(object?["files"] as? [String] == result.paths && object?["mix"] as? String == "/takes/mix.wav")
        let decoded = try JSONDecoder().decode(CallReport.Recording.self, from: Data(text.utf8))
        #expect(decoded == CallReport.Recording(result))
    }
}
