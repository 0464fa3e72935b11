// SPDX-License-Identifier: Apache-2.0

import EarshotAudioFiles
import Foundation
import TestSupport
import TestTraits
import Testing

@testable import EarshotLiveCall

@Suite struct MixTests {
    @Test func `a dry mix is the sum of the voices with their volumes of the time`() throws {
        let rig = try MixRig()
        let (ann, ben) = (MixRig.tone(440, 30_000), MixRig.tone(997, 40_000))
        try rig.add("Ann", [ann])
        try rig.add("Ben", [ben], volumes: [.init(frame: 0, gain: 0.5), .init(frame: 20_001, gain: 1)])
        let (result, sound) = try rig.mix()
        #expect(result.frameCount == 40_000 && sound.map(\.count) == [40_000, 40_000])
        let expected = (0..<40_000).map { n in
            // A change fades within 5 ms.
            let gain = 0.5 + 0.5 * max(0, min(1, Float(n - 20_000) / 240))
            return (n < ann.count ? ann[n] : 0) + ben[n] * gain
        }
        for channel in sound { #expect(errorDecibels(expected, channel) < -100) }
        #expect(result.faults == [])
    }

    @Test(arguments: [10.0, -10, 0.02, 1_000]) func `a nudge moves a voice by its frames, and no other voice`(
        milliseconds: Double
    ) throws {
        let rig = try MixRig()
        try rig.add("Ann", [MixRig.tone(440, 20_000)])
        let ben = MixRig.singing(300, 0.5, seed: 3)
        try rig.add("Ben", [ben])
        let frames = Int((milliseconds * 48).rounded())
        let (result, sound) = try rig.mix { settings in
            settings.voices[0].balance = -.infinity
            settings.voices[1].nudge = milliseconds
        }
        #expect(result.frameCount == max(20_000, ben.count + frames))
        let expected = (0..<result.frameCount).map { n in
            ben.indices.contains(n - frames) ? ben[n - frames] : 0
        }
        #expect(sound[0] == expected)
    }

    @Test func `a voice that is moved before the beginning has its volume there`() throws {
        let rig = try MixRig()
        try rig.add(
            "Ann", [[Float](repeating: 0.1, count: 20_000)],
            volumes: [.init(frame: 0, gain: 1), .init(frame: 4_000, gain: 0), .init(frame: 12_000, gain: 1)])
        let (_, sound) = try rig.mix { $0.voices[0].nudge = -125 }
        #expect(sound[0][..<5_900].allSatisfy { $0 == 0 } && sound[0][7_000] == 0.1)
    }

    @Test func `balance and pan change one voice`() throws {
        let rig = try MixRig()
        try rig.add("Ann", [[Float](repeating: 0.1, count: 5_000)])
        try rig.add("Ben", [[Float](repeating: 0.2, count: 5_000), [Float](repeating: 0.3, count: 5_000)])
        let (_, sound) = try rig.mix { settings in
            settings.voices[0].pan = -1
            settings.voices[1].balance = -6.0206
        }
        #expect(abs(sound[0][100] - (0.1 * 2.0.squareRoot() + 0.1).float) < 1e-5)
        #expect(abs(sound[1][100] - 0.15) < 1e-5)
    }

    @Test(arguments: MixPreset.all.map(\.name)) func `every preset has -14 LUFS and peaks below -1 dBTP`(
        preset: String
    ) throws {
        let rig = try MixRig()
        try rig.add("Ann", [MixRig.singing(220, 6, seed: 1)])
        try rig.add("Ben", [MixRig.singing(330, 5, seed: 2)])
        let (result, sound) = try rig.mix(preset, loudness: -14, type: .flac)
        let measured = try MixRig.measure(sound)
        #expect(abs(measured.loudness + 14) < 0.5, "\(measured)")
        #expect(measured.truePeak <= -1, "\(measured)")
        #expect(result.clippedSampleCount == 0 && result.isLimited)
        #expect(abs(try #require(result.loudness) - measured.loudness) < 0.1)
        #expect(sound.allSatisfy { $0.allSatisfy(\.isFinite) } && sound[0].count == result.frameCount)
        // The preset is heard: a dry mix differs.
        if preset != "dry" {
            let dry = try rig.mix("dry", loudness: -14, type: .flac).sound
            #expect(errorDecibels(dry[0], sound[0]) > -20)
        }
    }

    @Test(arguments: [AudioFileType.m4a, .mp3]) func `an encoded mix keeps its loudness and peaks`(
        type: AudioFileType
    ) throws {
        let rig = try MixRig()
        try rig.add("Ann", [MixRig.singing(220, 4, seed: 1)])
        let measured = try MixRig.measure(try rig.mix("natural", loudness: -14, type: type).sound)
        #expect(abs(measured.loudness + 14) < 0.5 && measured.truePeak <= -1, "\(measured)")
    }

    @Test func `the same input gives the same bytes, which only the user can read`() throws {
        let rig = try MixRig()
        try rig.add("Ann", [MixRig.singing(220, 1, seed: 1)])
        let url = URL(fileURLWithPath: rig.path("mix-test.m4a"))
        _ = try rig.mix("stage", loudness: -14, type: .m4a)
        let first = try Data(contentsOf: url)
        try FileManager.default.removeItem(at: url)
        _ = try rig.mix("stage", loudness: -14, type: .m4a)
        #expect(try Data(contentsOf: url) == first && first.count > 1_000)
        let mode = try FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }

    @Test func `a silent recording stays silent`() throws {
        let rig = try MixRig()
        try rig.add("Ann", [[Float](repeating: 0, count: 10_000)])
        let (result, sound) = try rig.mix("natural", loudness: -14)
        #expect(result.loudness == nil && result.gain == 0 && sound[0].allSatisfy { $0 == 0 })
    }

    @Test func `a divided track is read over all its parts, and a missing part is silent`() throws {
        let rig = try MixRig()
        let sound = MixRig.singing(220, 1, seed: 4)
        try rig.add("Ann", [sound])
        for part in 0..<3 {
            try MixRig.write(
                [Array(sound[part * 18_000..<min(48_000, (part + 1) * 18_000)])], to: rig.path("Ann-00\(part + 1).wav"))
        }
        (rig.manifest.tracks[0].file, rig.manifest.tracks[0].parts) = ("Ann-001.wav", 3)
        #expect(try rig.mix().sound[0] == sound)
        try FileManager.default.removeItem(atPath: rig.path("Ann-002.wav"))
        let (result, damaged) = try rig.mix()
        let expected = sound.indices.map { (18_000..<36_000).contains($0) ? 0 : sound[$0] }
        #expect(damaged[0] == expected)
        #expect(result.faults.map(\.kind) == [.missing] && result.faults[0].voice == "Ann")
        try MixRig.write([Array(sound[18_000..<20_000])], to: rig.path("Ann-002.wav"))
        #expect(try rig.mix().result.faults.map(\.kind) == [.short(seconds: 16_000 / 48_000)])
        try FileManager.default.removeItem(atPath: rig.path("Ann-002.wav"))
        try FileManager.default.removeItem(atPath: rig.path("Ann-001.wav"))
        #expect(try rig.mix().sound[0] == sound.indices.map { $0 < 36_000 ? 0 : sound[$0] })
    }

    @Test func `a voice of another rate is converted to its place`() throws {
        let rig = try MixRig()
        try rig.add("Ann", [(0..<44_100).map { sine($0, frequency: 440, rate: 44_100) }], rate: 44_100)
        let (result, sound) = try rig.mix()
        #expect(result.frameCount == 48_000)
        let expected = (0..<48_000).map { sine($0, frequency: 440, rate: 48_000) }
        #expect(errorDecibels(Array(expected[1_000..<47_000]), Array(sound[0][1_000..<47_000])) < -80)
    }

    @Test func `the stems are the mix in parts of one length`() throws {
        let rig = try MixRig()
        try rig.add("Ann", [MixRig.singing(220, 1, seed: 1)])
        try rig.add("Reverb", [MixRig.singing(330, 0.5, seed: 2)])
        let source = try rig.source()
        var settings = MixSettings(for: source)
        (settings.preset, settings.loudness) = (try #require(MixPreset.named("room")), nil)
        settings.voices[1].nudge = 100
        let stems = try MixStems(source, settings, folder: rig.path("stems"), session: .reaper)
        try stems.write()
        let sounds = try stems.paths.dropLast().map { try MixRig.read($0) }
        let mix = try rig.mix("room") { $0.voices[1].nudge = 100 }.sound
        #expect(sounds.count == 3 && Set(sounds.map { $0[0].count }) == [mix[0].count])
        for c in 0..<2 {
            let sum = mix[c].indices.map { n in sounds.reduce(0) { $0 + $1[c][n] } }
            #expect(errorDecibels(mix[c], sum) < -100)
        }
        let text = try String(contentsOfFile: rig.path("stems/session.rpp"), encoding: .utf8)
        let project = try #require(ReaperBlock(text))
        let tracks = project.blocks.filter { $0.name == "TRACK" }
        #expect(tracks.map { $0.value("NAME") } == ["Ann", "Reverb", "Reverb"])
        let items = tracks.flatMap(\.blocks)
        #expect(items.allSatisfy { $0.value("POSITION") == "0" })
        #expect(items.allSatisfy { Double($0.value("LENGTH") ?? "") == Double(mix[0].count) / 48_000 })
        let files = items.flatMap(\.blocks).compactMap { $0.value("FILE") }
        #expect(files == ["Ann.wav", "Reverb.wav", "Reverb return.wav"])
        #expect(project.value("SAMPLERATE") == "48000")
    }
}

extension Double {
    fileprivate var float: Float { Float(self) }
}

/// A block of a REAPER project.
struct ReaperBlock {
    var name = ""
    var values: [String: String] = [:]
    var blocks: [ReaperBlock] = []

    /// Reads a project; nil if its blocks do not match.
    init?(_ text: String) {
        var open: [ReaperBlock] = [ReaperBlock()]
        for line in text.split(separator: "\n").map({ $0.drop { $0 == " " } }) {
            let (keyword, value) = Self.parts(line)
            if line == ">" {
                guard open.count > 1, let block = open.popLast() else { return nil }
                open[open.count - 1].blocks.append(block)
            } else if line.hasPrefix("<") {
                open.append(ReaperBlock(name: String(keyword.dropFirst())))
            } else {
                open[open.count - 1].values[keyword] = value
            }
        }
        guard open.count == 1, open[0].blocks.count == 1 else { return nil }
        self = open[0].blocks[0]
    }

    private init(name: String = "") { self.name = name }

    func value(_ keyword: String) -> String? { values[keyword] }

    /// Returns the keyword and the first value, without its quotation marks.
    private static func parts(_ line: Substring) -> (String, String) {
        let keyword = line.prefix { $0 != " " }
        let rest = line.dropFirst(keyword.count + 1)
        guard let mark = rest.first, "\"'`".contains(mark) else {
            return (String(keyword), String(rest.prefix { $0 != " " }))
        }
        return (String(keyword), String(rest.dropFirst().prefix { $0 != mark }))
    }
}
