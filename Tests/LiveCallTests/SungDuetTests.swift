// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioFiles
import EarshotCall
import EarshotMediaTransport
import Foundation
import TestSupport
import TestTraits
import Testing

@testable import EarshotDuet
@testable import EarshotLiveCall
@testable import EarshotSimulation

/// A duet from the recordings of a call to its mix, on virtual time.
@Suite(.optimized) struct SungDuetTests {
    /// Returns the gain of the song in 0.2 s of a stem.
    private func gain(_ stem: [Float], at seconds: Double) -> Double {
        var (products, squares) = (0.0, 0.0)
        let start = Int(seconds * SungCallRig.songRate)
        for n in start..<start + 8_820 {
            let song = SungCallRig.song(at: Double(n) / SungCallRig.songRate)
            (products, squares) = (products + Double(stem[n]) * song, squares + song * song)
        }
        return products / squares
    }

    @Test func `two singers' takes become stems, and in the mix with the song every voice lines up`() throws {
        let rig = try SungCallRig(drifts: [150, -150])
        func time(_ seconds: Double) -> HostTime { rig.simulation.start.advanced(bySeconds: seconds) }
        try rig.run(until: 1)
        for singer in rig.singers { singer.player.play(from: SongPosition(units: 0), at: time(1.5)) }
        try rig.run(until: 5)
        rig.simulation.peers[0].skipCycles(for: 0.2)
        try rig.run(until: 6)
        // Ben sings a passage again, in another take and less loudly.
        let ben = rig.singers[1]
        ben.writer.endTake()
        rig.simulation.peers[1].echo = [(frames: 256, gain: 0.75)]
        ben.writer.beginTake(ben.player.makeLog())
        ben.player.seek(to: SongPosition(frame: 2 * 44_100), at: time(6.5))
        try rig.run(until: 8.5)
        rig.finish()

        let song = try SungCallRig.writeSong()
        let scratch = try MixRig()
        defer { try? FileManager.default.removeItem(atPath: song) }
        var duet = try DuetFolder(
            creating: scratch.path("duet"), name: "Anna & Ben", recordedBy: "Anna", song: .file(song), program: "test")
        var sounds = [try MixRig.read(song)[0]]
        for singer in rig.singers {
            let stem = try AlignedStem.write(
                takesOf: [singer.folder], song: .file(duet.songPath), to: scratch.path("\(singer.name).flac"))
            #expect(stem.faults.isEmpty && fileMode(stem.path) == 0o600)
            let sound = try MixRig.read(stem.path)
            #expect(sound.map(\.count) == [SungCallRig.songLength])
            let gaps = stem.gaps.map { $0.frame..<$0.frame + $0.frameCount }
            let error = try SungCallRig.misalignment(sound[0], gaps: gaps)
            print("\(singer.name): largest misalignment \(error) frames of the song, gaps \(stem.gaps)")
            #expect(error < 0.2)
            // The skipped 0.2 s, and no more than a block on each side.
            let skipped = stem.gaps.contains { $0.reason == .device && (8_820..<9_300).contains($0.frameCount) }
            #expect(skipped == (singer === rig.singers[0]), "\(stem.gaps)")
            sounds.append(sound[0])
            try duet.addStem(
                path: stem.path, singer: singer.name, key: nil, isLocal: singer === rig.singers[0], gaps: stem.gaps)
        }
        let gains = [1, 3, 5].map { gain(sounds[2], at: $0) }
        #expect(zip(gains, [1, 0.75, 0]).allSatisfy { abs($0 - $1) < 0.01 }, "\(gains)")

        let source = try MixSource(folder: duet.path)
        var settings = MixSettings(for: source)
        (settings.preset, settings.loudness) = (MixPreset.all[0], nil)
        let path = scratch.path("mix.wav")
        let result = try MixFile(source, settings, encoding: .init()).write(to: path, type: .rf64)
        let mix = try MixRig.read(path)
        #expect(result.faults.isEmpty && mix.map(\.count) == [SungCallRig.songLength, SungCallRig.songLength])
        let sum = sounds[0].indices.map { n in sounds.reduce(0) { $0 + $1[n] } }
        for channel in mix { #expect(errorDecibels(sum, channel) < -100) }
        let error = try SungCallRig.misalignment(mix[0].map { $0 / 3 }, gaps: [])
        print("mix: largest misalignment \(error) frames of the song")
        #expect(error < 0.2)
    }
}
