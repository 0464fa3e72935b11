// SPDX-License-Identifier: Apache-2.0

import EarshotAudioFiles
import Foundation
import TestSupport
import Testing

@testable import EarshotLiveCall

@Suite struct MixInputTests {
    private func rig() throws -> MixRig {
        let rig = try MixRig()
        try rig.add("Ann", [MixRig.tone(440, 10_000)])
        try rig.add("Ben", [MixRig.tone(997, 10_000)])
        return rig
    }

    /// Writes the description after a change of its text, and returns the error of reading it.
    private func error(_ change: (String) -> String) throws -> MixError? {
        let rig = try rig()
        _ = try rig.source()
        let path = rig.path("recording.json")
        let text = try String(contentsOfFile: path, encoding: .utf8)
        try change(text).write(toFile: path, atomically: true, encoding: .utf8)
        do throws(MixError) { _ = try MixSource(folder: rig.folder) } catch { return error }
        return nil
    }

    @Test func `a folder without a description is no recording`() throws {
        let rig = try MixRig()
        #expect(throws: MixError.noDescription(folder: rig.folder)) { try MixSource(folder: rig.folder) }
        #expect(throws: MixError.noFolder("/nowhere")) { try MixSource(folder: "/nowhere") }
    }

    @Test(arguments: [
        "", "{", "[]", "{\"version\":\"1\"}", "{\"version\":1}", "{\"version\":1e99}",
        String(repeating: "[", count: 100_000),
    ]) func `a damaged description is refused`(text: String) throws {
        guard case .badDescription = try error({ _ in text }) else {
            Issue.record("\(text.prefix(20)) is accepted")
            return
        }
    }

    @Test(arguments: ["../Ann.wav", "/etc/passwd", "..", "", "a/b.wav", "a\\u0000b"])
    func `a file name that leaves the folder is refused`(name: String) throws {
        let escaped = name.replacing("/", with: "\\/")
        guard
            case .badDescription(_, let reason) = try error({
                $0.replacing("\"Ann.wav\"", with: "\"\(escaped)\"")
            })
        else {
            Issue.record("\(name) is accepted")
            return
        }
        #expect(reason.contains("is not the name of a file"))
    }

    @Test(arguments: [
        ("\"sampleRate\":48000", "\"sampleRate\":0"), ("\"sampleRate\":48000", "\"sampleRate\":9000000000000000000"),
        ("\"parts\":1", "\"parts\":0"), ("\"parts\":1", "\"parts\":2000000000"), ("\"version\":1", "\"version\":-1"),
        ("\"Ben.wav\"", "\"Ann.wav\""), ("\"frameCount\":10000", "\"frameCount\":1e300"),
        ("\"gain\":1", "\"gain\":1e300"),
    ]) func `impossible values are refused`(before: String, after: String) throws {
        guard case .badDescription = try error({ $0.replacing(before, with: after) }) else {
            Issue.record("\(after) is accepted")
            return
        }
    }

    @Test func `a later version is refused, and later kinds and reasons of version 1 are read`() throws {
        guard case .laterVersion(_, 2) = try error({ $0.replacing("\"version\":1", with: "\"version\":2") }) else {
            Issue.record("version 2 is accepted")
            return
        }
        let later = try error { text in
            text.replacing("\"voice\"", with: "\"click\"", maxReplacements: 1)
                .replacing("\"gaps\":[]", with: "\"gaps\":[{\"frame\":1,\"frameCount\":2,\"reason\":\"sleep\"}]")
        }
        #expect(later == nil)
        let none = try error { $0.replacing("\"voice\"", with: "\"song\"") }
        guard case .noVoices = none else {
            Issue.record("\(String(describing: none))")
            return
        }
    }

    @Test func `numbers at the limits do not trap`() throws {
        let rig = try rig()
        for n in [Int.min, -1, Int.max] {
            rig.manifest.tracks[0].frameCount = n
            rig.manifest.tracks[0].gaps = [.init(frame: n, frameCount: n, reason: .away)]
            rig.manifest.tracks[0].volumes = [.init(frame: n, gain: 1e30), .init(frame: 5_000, gain: -1)]
            let (result, sound) = try rig.mix("natural", loudness: -14) { $0.voices[0].nudge = -20 }
            #expect(result.frameCount > 10_000 && sound[0].allSatisfy(\.isFinite))
        }
        rig.manifest.tracks[0].gaps = (0..<10_000).map { .init(frame: $0, frameCount: 1, reason: .device) }
        #expect(try rig.source().voices[0].gapCount == 10_000)
    }

    @Test func `the mix is made of the voices that can be read, and names the others`() throws {
        let rig = try rig()
        let whole = try rig.mix().sound[0]
        try FileManager.default.removeItem(atPath: rig.path("Ben.wav"))
        let (result, sound) = try rig.mix()
        #expect(result.faults.map(\.kind) == [.missing] && result.faults[0].voice == "Ben")
        #expect(sound[0] != whole && sound[0] == MixRig.tone(440, 10_000))
        try Data("no sound".utf8).write(to: URL(fileURLWithPath: rig.path("Ben.wav")))
        #expect(try rig.mix().result.faults.map(\.voice) == ["Ben"])
        try MixRig.write([MixRig.tone(997, 4_000)], to: rig.path("Ben.wav"))
        #expect(try rig.mix().result.faults.map(\.kind) == [.short(seconds: 0.125)])
        try FileManager.default.removeItem(atPath: rig.path("Ann.wav"))
        try FileManager.default.removeItem(atPath: rig.path("Ben.wav"))
        #expect { try rig.mix() } throws: { error in
            guard case MixError.nothingReadable(_, let faults) = error else { return false }
            return faults.map(\.voice) == ["Ann", "Ben"]
        }
    }

    @Test func `a file that is damaged in the middle is silent there`() throws {
        let rig = try rig()
        let path = rig.path("Ben.flac")
        let writer = try AudioFileWriter(
            path: path, format: .init(sampleRate: 48_000, channelCount: 1), type: .flac, sampleFormat: .int16)
        let noise = MixRig.singing(200, 2, seed: 9)
        try noise.withUnsafeBufferPointer { samples in
            guard let base = samples.baseAddress else { return }
            var pointer = UnsafeMutablePointer(mutating: base)
            try withUnsafePointer(to: &pointer) { try writer.write(.init($0, count: 1), frameCount: noise.count) }
        }
        try writer.close()
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        for n in 0..<6_000 { bytes[bytes.count / 2 + n] = UInt8(truncatingIfNeeded: n &* 37) }
        try bytes.write(to: URL(fileURLWithPath: path))
        (rig.manifest.tracks[1].file, rig.manifest.tracks[1].frameCount) = ("Ben.flac", noise.count)
        let (result, sound) = try rig.mix { $0.voices[0].balance = -.infinity }
        #expect(result.faults.map(\.kind) == [.damaged])
        #expect(result.frameCount == noise.count)
        #expect(errorDecibels(Array(noise[..<20_000]), Array(sound[0][..<20_000])) < -60)
        #expect(errorDecibels(Array(noise.suffix(20_000)), Array(sound[0].suffix(20_000))) < -60)
    }

    @Test func `a name is that of a file or a participant, and a similar one is suggested`() throws {
        let rig = try rig()
        rig.manifest.tracks[1].name = "Benjamin"
        let source = try rig.source()
        #expect(try source.voices(named: "ANN") == [0])
        #expect(try source.voices(named: "ben") == [1] && source.voices(named: "Benjamin") == [1])
        #expect(throws: MixError.unknownVoice(name: "Anna", near: ["Ann"], all: ["Ann", "Benjamin", "Ben"])) {
            try source.voices(named: "Anna")
        }
    }

    @Test func `a file of the recording is never the output`() throws {
        let rig = try rig()
        let source = try rig.source()
        let mix = MixFile(source, MixSettings(for: source), encoding: .init())
        for name in ["Ann.wav", "recording.json", "./Ben.wav"] {
            #expect(throws: MixError.ownFile(path: rig.path(name))) { try mix.write(to: rig.path(name), type: .rf64) }
        }
        #expect(throws: MixError.ownFile(path: "\(rig.folder)/Ann.wav")) {
            try MixStems(source, MixSettings(for: source), folder: rig.folder, session: nil)
        }
        let link = rig.path("link")
        try FileManager.default.createDirectory(atPath: link, withIntermediateDirectories: false)
        try FileManager.default.linkItem(atPath: rig.path("Ann.wav"), toPath: "\(link)/Ann.wav")
        for folder in [link, rig.path("missing/..")] {
            #expect(throws: MixError.ownFile(path: "\(folder)/Ann.wav")) {
                try MixStems(source, MixSettings(for: source), folder: folder, session: nil)
            }
        }
        #expect(try MixRig.read(rig.path("Ann.wav"))[0].count == 10_000)
    }

    @Test func `stems that are cancelled leave the earlier files`() throws {
        let rig = try rig()
        let source = try rig.source()
        let folder = rig.path("stems")
        let stems = try MixStems(source, MixSettings(for: source), folder: folder, session: .reaper)
        #expect(throws: MixError.cancelled) { try stems.write { $0 < 0.5 } }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty)
        try stems.write()
        let modes = try stems.paths.map {
            try FileManager.default.attributesOfItem(atPath: $0)[.posixPermissions] as? Int
        }
        #expect(modes.allSatisfy { $0 == 0o600 })
        let sounds = try stems.paths.dropLast().map { try MixRig.read($0) }
        #expect(throws: MixError.cancelled) { try stems.write { $0 < 0.5 } }
        #expect(try stems.paths.dropLast().map { try MixRig.read($0) } == sounds)
    }

    @Test func `a mix without a frame is refused`() throws {
        let rig = try rig()
        #expect(throws: MixError.empty) {
            try rig.mix { settings in for index in 0..<2 { settings.voices[index].nudge = -10_000 } }
        }
    }

    @Test func `a mix that cannot be written leaves no file`() throws {
        let rig = try rig()
        let source = try rig.source()
        let mix = MixFile(source, MixSettings(for: source), encoding: .init())
        #expect(throws: MixError.output(.missingFolder(path: rig.path("no/mix.wav")))) {
            try mix.write(to: rig.path("no/mix.wav"), type: .rf64)
        }
        #expect(throws: MixError.cancelled) {
            try mix.write(to: rig.path("new.wav"), type: .rf64) { $0 < 0.5 }
        }
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: rig.folder).sorted() == [
                "Ann.wav", "Ben.wav", "recording.json",
            ])
    }

    @Test func `text of strangers stays text in a session`() throws {
        #expect(ReaperProject.quoted("a \"b\"") == "'a \"b\"'" && ReaperProject.quoted("a\n>") == "\"a >\"")
        #expect(ReaperProject.quoted("\"'`") == "`\"''`")
        #expect(DAWProject.escaped("<a & \"b\">\u{1}") == "&lt;a &amp; &quot;b&quot;&gt; ")
    }
}
