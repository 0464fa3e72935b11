// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioContainers
import EarshotAudioFiles
import Foundation
import TestSupport
import TestTraits
import Testing

/// Tests faults during `earshot record`: the recording survives, and the fault is reported.
@Suite(.serialized, .realTime, .needs("pipewire")) struct RecordFaultTests {
    /// Returns the frames that a program reads from a file; nil if it fails.
    private func frames(_ path: String, by arguments: [String], _ scratch: Scratch) throws -> Int? {
        let raw = scratch("decoded.raw")
        try? FileManager.default.removeItem(atPath: raw)
        let program = try ChildProcess(arguments + [raw])
        guard program.wait(seconds: 30) == .exit(0) else { return nil }
        return (try FileManager.default.attributesOfItem(atPath: raw)[.size] as? Int).map { $0 / 4 }
    }

    @Test func `kill -9 loses at most the last second, and the files open in other programs`() throws {
        let scratch = try Scratch()
        try Recorded.write(Recorded.noise(30 * 48_000), to: scratch("played.wav"))
        let paths = Recorded.kinds.map { scratch("take.\($0)") }
        let program = try Recorded.start(paths, hears: scratch("played.wav"))
        // 24 bits: a little over three seconds.
        #expect(Recorded.grows(scratch("take.wav"), to: 3 * 48_000 * 3 + 40_000), "\(program.errors)")
        program.signal(SIGKILL)
        #expect(program.wait() == .signal(SIGKILL))
        let written = try Recorded.read(scratch("take.wav"))[0].count
        #expect(written > 3 * 48_000)
        for (kind, path) in zip(Recorded.kinds, paths) {
            let ours = try Recorded.read(path)[0]
            #expect(ours.count > written - 48_000, "\(kind): \(ours.count) of \(written)")
            #expect(abs(Recorded.toneLevel(ours)) < 0.2, "\(kind)")
            let ffmpeg = try frames(
                path, by: ["ffmpeg", "-v", "error", "-y", "-i", path, "-ar", "48000", "-f", "f32le"], scratch)
            #expect((ffmpeg ?? 0) > written - 48_000, "\(kind): ffmpeg reads \(ffmpeg ?? -1) of \(written)")
            if ["wav", "aiff", "flac", "ogg"].contains(kind) {  // the others are not in every sox
                let sox = try frames(path, by: ["sox", path, "-t", "f32"], scratch)
                #expect((sox ?? 0) > written - 48_000, "\(kind): sox reads \(sox ?? -1) of \(written)")
            }
        }
    }

    @Test func `a file that reaches its size limit ends, and the others continue`() throws {
        let scratch = try Scratch()
        try Recorded.write(Recorded.noise(4 * 48_000), to: scratch("noise.wav"))
        let program = try Earshot.start(
            [
                "record", scratch("a.wav"), scratch("a.opus"), scratch("a.mp3"), "--device", "simulated", "--speak",
                scratch("noise.wav"), "--duration", "2", "--json",
            ], through: Earshot.fileLimit)
        #expect(program.wait() == .exit(73), "\(program.errors)")
        #expect(theFailure(program).contains("a.wav: the disk is full"), "\(program.errors)")
        let files = try theReport(program)["files"] as? [[String: Any]] ?? []
        #expect(files.map { $0["error"] is String } == [true, false, false], "\(files)")
        #expect(try Recorded.read(scratch("a.opus"))[0].count == 96_000)
        #expect(try Recorded.read(scratch("a.mp3"))[0].count == 96_000)
        let kept = try Recorded.read(scratch("a.wav"))[0].count
        #expect(kept > 30_000 && kept < 35_000, "\(kept)")
    }

    @Test func `recording ends when its last file has failed`() throws {
        let scratch = try Scratch()
        try Recorded.write(Recorded.noise(48_000), to: scratch("noise.wav"))
        let program = try Recorded.start(["/dev/full", "--to", "mp3"], hears: scratch("noise.wav"))
        #expect(program.wait() == .exit(73), "\(program.errors)")
        #expect(theFailure(program).contains("/dev/full: the disk is full"))
    }

    @Test func `a file that cannot be created is reported, and no other file is created`() throws {
        let scratch = try Scratch()
        try FileManager.default.createSymbolicLink(atPath: scratch("proc"), withDestinationPath: "/proc/self")
        try FileManager.default.createDirectory(atPath: scratch("folder.wav"), withIntermediateDirectories: false)
        for (name, words) in [
            ("no/take.wav", "the folder does not exist"), ("folder.wav", "folder.wav"), ("proc/take.wav", "take.wav"),
            ("take.wav.m4a", "AAC has no V2"),
        ] {
            let program = try Earshot.start([
                "record", scratch("good.mp3"), scratch(name), "--device", "simulated", "--duration", "0.5", "--bitrate",
                "V2",
            ])
            #expect(program.wait() == .exit(73), "\(program.errors)")
            #expect(theFailure(program).contains(words), "\(program.errors)")
            #expect(!FileManager.default.fileExists(atPath: scratch("good.mp3")))
        }
    }

    @Test func `a folder without write permission is reported`() throws {
        let scratch = try Scratch()
        try FileManager.default.createDirectory(atPath: scratch("closed"), withIntermediateDirectories: false)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: scratch.path)
        try FileManager.default.setAttributes([.posixPermissions: 0o555], ofItemAtPath: scratch("closed"))
        let program = try ChildProcess(
            Earshot.unprivileged + [
                Earshot.program, "record", scratch("closed/take.wav"), "--device", "simulated", "--duration", "0.5",
            ])
        #expect(program.wait() == .exit(73), "\(program.errors)")
        #expect(theFailure(program).contains("permission denied"), "\(program.errors)")
    }

    @Test func `a reader that disconnects ends the stream but not the file beside it`() throws {
        let scratch = try Scratch()
        try Recorded.write(Recorded.noise(3 * 48_000), to: scratch("noise.wav"))
        let shell = try ChildProcess([
            "bash", "-c",
            "'\(Earshot.program)' record - '\(scratch("take.wav"))' --to wav --device simulated --speak "
                + "'\(scratch("noise.wav"))' --duration 1.5 | head -c 20000 > /dev/null; exit ${PIPESTATUS[0]}",
        ])
        #expect(shell.wait() == .exit(73), "\(shell.errors)")
        #expect(theFailure(shell).contains("standard output: its reader is gone"), "\(shell.errors)")
        #expect(try Recorded.read(scratch("take.wav"))[0].count == 72_000)
    }

    @Test func `an unplugged microphone is recorded again when it returns, with silence in between`() throws {
        let scratch = try Scratch()
        let played = Recorded.noise(6 * 48_000)[0]
        try Recorded.write([played], to: scratch("played.wav"))
        let program = try Recorded.start(
            [scratch("take.flac"), "--duration", "3", "--card-script", "vanish@1:0.7", "--json"],
            hears: scratch("played.wav"))
        #expect(program.wait() == .exit(0), "\(program.errors)")
        #expect(program.errors.contains("sound interrupted") && program.errors.contains("sound continues"))
        let report = try theReport(program)
        let lost = report["lostFrames"] as? Int ?? 0
        #expect(lost > 28_800, "\(report)")
        #expect((report["interruptions"] as? [Any])?.count == 1)
        let recorded = try Recorded.read(scratch("take.flac"))[0]
        #expect(recorded.count == 3 * 48_000)
        let runs = Recorded.runs(of: recorded, in: played)
        let silent = runs.filter { $0.kind == .silence }.map(\.count).reduce(0, +)
        // The ends of the fades may be silent.
        #expect(abs(silent - lost) < 100, "\(silent) of \(lost): \(runs)")
        let faded = runs.filter { $0.kind == .faded }.map(\.count).reduce(0, +)
        #expect(faded <= 4 * Recorded.fade, "\(runs)")
    }

    @Test func `a recording continues after PipeWire restarts`() throws {
        let scratch = try Scratch()
        try PipeWireServer.running(devices: [.source("mic")]) { server in
            let program = try Earshot.start(
                ["record", scratch("take.wav"), "--device", "pipewire", "--json"],
                environment: server.environment.mapValues(Optional.some))
            #expect(program.says("Recording: "), "\(program.errors)")
            #expect(Recorded.grows(scratch("take.wav"), to: 100_000))
            server.stop()
            #expect(program.says("sound interrupted"), "\(program.errors)")
            try server.start()
            #expect(program.says("sound continues"), "\(program.errors)")
            usleep(500_000)
            program.signal(SIGTERM)
            #expect(program.wait(seconds: 5) == .exit(143), "\(program.errors)")
            let report = try theReport(program)
            #expect(report["lostFrames"] as? Int ?? 0 > 2_400, "\(report)")
            let seconds = report["seconds"] as? Double ?? 0
            #expect(try Recorded.read(scratch("take.wav"))[0].count == Int((seconds * 48_000).rounded()))
        }
    }

    @Test func `no file is created when there is no sound system`() throws {
        let scratch = try Scratch()
        let program = try Earshot.start(["record", scratch("take.wav"), "--jack-server", "earshot-nobody"])
        #expect(program.wait() == .exit(69), "\(program.errors)")
        _ = theFailure(program)
        #expect(!FileManager.default.fileExists(atPath: scratch("take.wav")))
    }
}
