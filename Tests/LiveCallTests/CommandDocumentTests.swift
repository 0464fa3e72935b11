// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport
import TestSupport
import Testing

@testable import EarshotDuet
@testable import EarshotLiveCall
@testable import EarshotRooms

/// Commands as JSON.
@Suite struct CommandDocumentTests {
    private static func request(_ line: String) throws(ErrorDocument) -> CallSocketRequest {
        try CallSocketRequest(parsing: Array(line.utf8))
    }

    /// Returns the code of the error with which a line is refused; nil if the line is a request.
    private static func code(_ line: String) -> String? {
        do throws(ErrorDocument) {
            _ = try request(line)
            return nil
        } catch {
            return error.code
        }
    }

    /// The commands that only the call's own terminal gives.
    private static let entering: Set<LiveCallCommand.Kind> = [.host, .join, .providePIN]
    private static let controlling = LiveCallCommand.Kind.allCases.filter { !entering.contains($0) }

    @Test(arguments: controlling)
    func `each command is the same after it was written as one line of JSON and read`(
        kind: LiveCallCommand.Kind
    ) throws {
        let commands = try DocumentExamples.command(kind)
        #expect(!commands.isEmpty && commands.allSatisfy { $0.kind == kind })
        for command in commands {
            let line = CallJSON.line(try #require(CommandDocument(command)))
            #expect(!line.contains(UInt8(ascii: "\n")))
            #expect(try CallSocketRequest(parsing: line) == .perform(command))
        }
    }

    @Test func `each order for a duet is the same after it was written and read, and is on the page`() throws {
        let orders: [DuetOrder] = [
            .agree(true), .agree(false), .pause, .resume, .seek(to: 12.5), .singAgain, .listen(true), .listen(false),
            .mix(MixPreset.all[3]), .setMode(.together), .setMode(.led(by: CoreRig.id(2))),
            .setMode(.inTurn(CoreRig.id(3))), .nextTurn,
            .balance(voice: "Ben", decibels: -2.5), .chooseSong(path: "/moon.ogg", beat: nil), .setGuide(gain: 0.25),
            .setPart(2),
            .chooseSong(path: "/moon.ogg", beat: Beat(tempo: 96.5, beatsPerBar: 3)),
        ]
        let page = try document("call-events.md")
        for order in orders {
            let request = CommandDocument(order)
            #expect(try CallSocketRequest(parsing: CallJSON.line(request)) == .controlDuet(order))
            #expect(page.contains("`\(try #require(request.control))`"))
        }
        #expect(Self.code(#"{"command":"controlDuet"}"#) == "missing-field")
        #expect(Self.code(#"{"command":"controlDuet","control":"dance"}"#) == "invalid-field")
        #expect(Self.code(#"{"command":"controlDuet","control":"seek"}"#) == "missing-field")
        #expect(Self.code(#"{"command":"controlDuet","control":"mix","value":"hall"}"#) == "invalid-field")
        #expect(Self.code(#"{"command":"controlDuet","control":"chooseSong","path":"moon.ogg"}"#) == "invalid-field")
        let beat = #"{"command":"controlDuet","control":"chooseSong","path":"/m","beat":{"bpm":1,"bar":4}}"#
        #expect(Self.code(beat) == "invalid-field")
        #expect(Self.code(#"{"command":"controlDuet","control":"part","value":"3"}"#) == "invalid-field")
        #expect(Self.code(#"{"command":"controlDuet","control":"guide","volume":1.5}"#) == "invalid-field")
        let balance = #"{"command":"controlDuet","control":"balance","value":"nan","name":"Ben"}"#
        #expect(Self.code(balance) == "invalid-field")
        #expect(Self.code(balance.replacing("nan", with: "inf")) == "invalid-field")
    }

    @Test(arguments: entering) func `a command that enters a room, perhaps with a PIN, has no document`(
        kind: LiveCallCommand.Kind
    ) throws {
        for command in try DocumentExamples.command(kind) { #expect(CommandDocument(command) == nil) }
        #expect(Self.code(#"{"command":"\#(kind.rawValue)"}"#) == "unknown-command")
    }

    @Test func `every command is on the page of the protocol, by its name`() throws {
        let page = try document("call-events.md")
        let names = Self.controlling.map(\.rawValue) + ["status", "watch", "controlDuet"]
        let missing = names.filter { !page.contains("`\($0)`") }
        #expect(missing == [])
    }

    @Test func `the requests on the page of the protocol are read`() throws {
        let id = CoreRig.id(2)
        #expect(
            try Self.request(#"{"command":"setVolume","participant":2,"volume":0.5}"#)
                == .perform(.setVolume(0.5, of: id)))
        #expect(try Self.request(#"{"command":"remove","participant":2,"later":[1]}"#) == .perform(.remove(id)))
        #expect(try Self.request(#"{"command":"status","protocol":1}"#) == .status)
        #expect(try Self.request(#"{"command":"watch"}"#) == .watch(after: nil))
        #expect(try Self.request(#"{"command":"watch","after":17}"#) == .watch(after: 17))
    }

    @Test(arguments: [
        ("", "malformed"), ("{", "malformed"), ("[]", "malformed"), ("null", "malformed"), ("{}", "malformed"),
        (#"{"command":7}"#, "malformed"), (#"{"command":"setMuted","isMuted":1}"#, "malformed"),
        (#"{"command":"setVolume","participant":-1,"volume":1}"#, "malformed"),
        (#"{"command":"setVolume","participant":2,"volume":1e999}"#, "malformed"),
        (#"{"command":"dance"}"#, "unknown-command"), (#"{"command":""}"#, "unknown-command"),
        (#"{"command":"setMuted"}"#, "missing-field"), (#"{"command":"setVolume","volume":1}"#, "missing-field"),
        (#"{"command":"admit"}"#, "missing-field"), (#"{"command":"sendFile"}"#, "missing-field"),
        (#"{"command":"remove","participant":0}"#, "invalid-field"),
        (#"{"command":"remove","participant":18446744073709551615}"#, "invalid-field"),
        (#"{"command":"rename","name":"\u0007"}"#, "invalid-field"),
        (#"{"command":"rename","name":"\#(String(repeating: "x", count: 64))"}"#, "invalid-field"),
        (#"{"command":"setLatencyProfile","dial":"2"}"#, "invalid-field"),
        (#"{"command":"setLatencyProfile","dial":"nan"}"#, "invalid-field"),
        (#"{"command":"setVoiceProcessing","mode":"ON"}"#, "invalid-field"),
        (#"{"command":"setMonitor","mode":"loud"}"#, "invalid-field"), (#"{"command":"setMonitor"}"#, "missing-field"),
        (#"{"command":"setCodec","codec":"mp3"}"#, "invalid-field"),
        (#"{"command":"setCodec","codec":"opus","frameMs":7}"#, "invalid-field"),
        (#"{"command":"setPushToTalk"}"#, "missing-field"), (#"{"command":"setPushToTalk","isOn":"yes"}"#, "malformed"),
        (#"{"command":"setEffects"}"#, "missing-field"), (#"{"command":"setEffects","effects":"reverb"}"#, "malformed"),
        (#"{"command":"setEffectParameter","effect":"reverb","parameter":"mix"}"#, "missing-field"),
        (#"{"command":"setEffectParameter","effect":"reverb","parameter":"mix","value":20}"#, "malformed"),
        (#"{"command":"setAdmission","admission":"none"}"#, "invalid-field"),
        (#"{"command":"startRecording","folder":""}"#, "invalid-field"),
        (#"{"command":"startRecording","folder":"take"}"#, "invalid-field"),
        (#"{"command":"sendFile","path":"./song.wav"}"#, "invalid-field"),
        (#"{"protocol":2}"#, "protocol"), (#"{"command":"status","protocol":0}"#, "protocol"),
    ]) func `a faulty request is refused with a code`(line: String, code: String) {
        #expect(Self.code(line) == code)
    }

    @Test func `damaged and hostile lines are refused or read, and never end the program`() throws {
        var random = SeededRandom(seed: 20_261_128)
        let pieces = ["{", "\"command\":", "[[[[", "\\u0000", "1e400", "\"protocol\":1,", "null", "\\ud800", "-", "\""]
        let lines = try Self.controlling.flatMap { try DocumentExamples.command($0) }
            .map { CallJSON.line(try #require(CommandDocument($0))) }
        var (readCount, refusedCount) = (0, 0)
        for _ in 0..<200 {
            for line in lines {
                let damaged = random.damaged(line, pieces: pieces)
                do throws(ErrorDocument) {
                    let request = try CallSocketRequest(parsing: damaged)
                    readCount += 1
                    // A command that was read is the same after it was written and read again.
                    guard case .perform(let command) = request else { continue }
                    let written = CommandDocument(command).map { CallJSON.line($0) } ?? []
                    let again = try CallSocketRequest(parsing: written)
                    #expect(again == request)
                } catch {
                    refusedCount += 1
                    #expect(!error.text.isEmpty && error.text.utf8.count < 400)
                }
            }
        }
        #expect(readCount > 100 && refusedCount > 1_000)
        for hostile in [
            String(repeating: "[", count: 60_000), String(repeating: "{\"a\":", count: 10_000),
            "{\"command\":\"" + String(repeating: "x", count: 60_000) + "\"}",
        ] {
            #expect(Self.code(hostile) != nil)
        }
    }
}
