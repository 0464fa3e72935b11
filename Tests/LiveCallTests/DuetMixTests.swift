// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioContainers
import EarshotAudioFiles
import Foundation
import TestSupport
import Testing

@testable import EarshotLiveCall

/// The song in a mix.
@Suite struct DuetMixTests {
    private static let song = [MixRig.singing(200, 1, seed: 7), MixRig.singing(310, 1, seed: 8)]

    private func rig(_ song: [[Float]] = Self.song, rate: Double = MixRig.rate) throws -> MixRig {
        let rig = try MixRig()
        try rig.add("song", song, rate: rate)
        (rig.manifest.tracks[0].kind, rig.manifest.tracks[0].volumes) = (.song, [])
        return rig
    }

    @Test(arguments: MixPreset.all.map(\.name)) func `a song has no effects, keeps its sides, and has its own balance`(
        preset: String
    ) throws {
        let rig = try rig()
        try rig.add("Anna", [[Float](repeating: 0, count: 48_000)])
        let sound = try rig.mix(preset) { $0.voices[0].balance = -6.0206 }.sound
        for c in 0..<2 { #expect(errorDecibels(Self.song[c].map { $0 / 2 }, Array(sound[c].prefix(48_000))) < -100) }
    }

    @Test(arguments: [1, 2] as [UInt32]) func `the mix of a take has tags with its song, singers and number`(
        attempt: UInt32
    ) throws {
        let rig = try rig()
        rig.manifest.tracks[0].name = "Blue Moon"
        rig.manifest.attempt = .init(number: attempt)
        for name in ["Anna", "Ben"] { try rig.add(name, [MixRig.tone(440, 4_800)]) }
        let source = try rig.source()
        let path = rig.path("mix.m4a")
        _ = try MixFile(source, MixSettings(for: source), encoding: .init()).write(to: path, type: .m4a)
        let tags = try SoundFiles.info(path).tags
        #expect(tags.title == (attempt == 1 ? "Blue Moon" : "Blue Moon (take 2)"))
        #expect(tags.artist == "Anna, Ben" && tags.album == source.room)
    }

    @Test func `voices are spread as if there were no song`() throws {
        let rig = try rig()
        for name in ["Anna", "Ben", "Cid"] { try rig.add(name, [MixRig.tone(440, 100)]) }
        let settings = MixSettings(for: try rig.source())
        #expect((0..<4).map { settings.pan(of: $0) } == [0, -0.25, 0, 0.25])
    }

    @Test(arguments: [AudioFileType.mp3, .m4a, .vorbis, .flac])
    func `a song of another kind, rate and channel count lines up`(
        type: AudioFileType
    ) throws {
        // A click at 0.5 s, in mono at another rate.
        let rig = try rig()
        let name = "song.\(type.fileExtension)"
        let writer = try SoundFiles.create(
            rig.path(name), type: type, format: AudioFormat(sampleRate: 44_100, channelCount: 1))
        let block = AudioBuffer(channelCount: 1, frameCapacity: 44_100)
        for n in 0..<44_100 { block.channels[0][n] = 0.5 * expf(-powf(Float(n - 22_050) / 40, 2)) }
        try writer.write(block.channels, frameCount: 44_100)
        try writer.close()
        rig.manifest.tracks[0].file = name
        try rig.add("Anna", [[Float](repeating: 0, count: 48_000)])
        let sound = try rig.mix("stage").sound
        let loudest = try #require(sound[0].indices.max { sound[0][$0] < sound[0][$1] })
        #expect(abs(loudest - 24_000) <= 2, "\(loudest)")
        #expect(sound[0] == sound[1] && abs(sound[0][loudest] - 0.5) < 0.05, "\(sound[0][loudest])")
    }

    @Test func `the stems of a duet include the song, and sum to the mix`() throws {
        let rig = try rig()
        try rig.add("Anna", [MixRig.singing(220, 1, seed: 1)])
        let source = try rig.source()
        var settings = MixSettings(for: source)
        (settings.preset, settings.loudness) = (try #require(MixPreset.named("room")), nil)
        let stems = try MixStems(source, settings, folder: rig.path("stems"), session: .reaper)
        try stems.write()
        #expect(stems.tracks.map(\.fileName) == ["song.wav", "Anna.wav", "Reverb.wav"])
        let sounds = try stems.paths.dropLast().map { try MixRig.read($0) }
        let mix = try rig.mix("room").sound
        for c in 0..<2 {
            let sum = mix[c].indices.map { n in sounds.reduce(0) { $0 + $1[c][n] } }
            #expect(errorDecibels(mix[c], sum) < -100)
        }
        #expect(try source.voices(named: "Song") == [0])
    }
}
