// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Foundation
import Testing

@testable import EarshotDuet

/// A beat in place of a song.
@Suite struct BeatTests {
    private static let beat = Beat(tempo: 132.5, beatsPerBar: 3)
    private static let song = DuetSong(
        name: "Beat 132.5", byteCount: 0, hash: String(repeating: "b0", count: 32), duration: 60, beat: beat)

    @Test func `each beat clicks at its position, in the count-in, in the beat, and after a seek`() throws {
        let singer = SingerRig(
            song: 0, songRate: 48_000, file: BeatReader(Self.beat, duration: 8), countIn: Self.beat,
            output: Card(firstFrame: 99, partsPerMillion: 40, latency: (128, 256)),
            sings: { Double(Self.beat.sample(at: $0)) })
        try singer.run(until: 0.5)
        try singer.start(at: 1, position: -Self.beat.countInTime)
        try singer.run(until: 6)
        #expect(singer.largestError < 1e-4)
        #expect(singer.outputSound.max() ?? 0 > 0.3)
        let first = try #require(singer.map.pieces.first?.position.frames)
        #expect(first > -1e-6 && first < 2)
        try singer.start(at: 6.2, position: 6.7)
        try singer.run(until: 7)
        #expect(singer.largestError < 1e-4)
        _ = singer.takeSilences()
        try singer.run(until: 8.5)
        // The beat ends after 8 s.
        let silences = singer.takeSilences()
        #expect(silences[.underrun] == nil && abs((silences[.stopped] ?? 0) - 48_000) < 500, "\(silences)")
    }

    @Test func `a reader gives the same frames from any place on, the first beat of a bar louder, and ends`() {
        let reader = BeatReader(Self.beat, duration: 3)
        #expect(reader.frameCount == 144_000)
        let whole = AudioBuffer(channelCount: 1, frameCapacity: 144_000)
        #expect(reader.read(into: whole.channels, frameCount: 200_000, offset: 0) == 144_000)
        #expect(reader.read(into: whole.channels, frameCount: 1, offset: 0) == 0)
        let part = AudioBuffer(channelCount: 1, frameCapacity: 10_000)
        for start in [0, 1, 21_700, 140_000] {
            reader.seek(to: start)
            let count = reader.read(into: part.channels, frameCount: 9_999, offset: 1)
            #expect(count == min(9_999, 144_000 - start) && reader.framePosition == start + count)
            #expect((0..<count).allSatisfy { part.channels[0][1 + $0] == whole.channels[0][start + $0] })
        }
        let peaks = (0..<6).map { number -> Float in
            let start = Int((Double(number) * Self.beat.period * 48_000).rounded(.up))
            return (start..<start + 2_000).map { abs(whole.channels[0][$0]) }.max() ?? 0
        }
        #expect(zip(peaks, [0.36, 0.22, 0.22, 0.36, 0.22, 0.22]).allSatisfy { abs($0 - $1) < 0.03 }, "\(peaks)")
        reader.seek(to: 500_000)
        #expect(reader.framePosition == 144_000)
    }

    @Test(arguments: 1...10 as ClosedRange<UInt64>)
    func `a beat needs no file: all agree at once, and begin together`(seed: UInt64) throws {
        var rig = DuetRig(3, seed: seed)
        rig.join(0, 1, 2)
        rig.run(0.3)
        try rig.members[0].core.choose(Self.song, at: rig.local(0))
        rig.run(2) { rig in
            #expect(rig.present.allSatisfy { rig.status($0).phase != .gettingSong })
        }
        #expect(rig.present.allSatisfy { rig.status($0).phase == .agreeing } && rig.transferCount == 0)
        for index in 0..<3 { try rig.members[index].core.agree() }
        rig.run(6)
        #expect(rig.present.allSatisfy { rig.status($0).phase == .singing && rig.position($0) ?? 0 > 1 })
        #expect(rig.members.allSatisfy { $0.recordings == [1] })
        #expect(try #require(rig.spread) < rig.tolerance)
        // A song after it is a file again.
        try rig.members[0].core.seek(to: Self.song.duration, at: rig.local(0))
        rig.run(3)
        try rig.members[0].core.choose(DuetRig.song, at: rig.local(0))
        rig.run(0.9)
        #expect(rig.status(1).phase == .gettingSong && rig.status(2).phase == .gettingSong)
        rig.run(2)
        #expect(rig.transferCount == 2 && rig.status(1).phase == .agreeing)
    }

    @Test func `a beat's member that has nothing is not sent a file`() throws {
        var core = DuetCore(own: 0, singer: 10)
        core.setMembers([0, 1], host: 0)
        try core.choose(Self.song, at: HostTime(nanoseconds: 0))
        for turn in 0..<100 {
            let now = HostTime(nanoseconds: Int64(turn) * 50_000_000)
            core.receive(DuetMessage().bytes, from: 1, at: now)
            #expect(!core.tick(at: now).contains(.sendSong(to: 1)))
        }
    }

    @Test func `a message with a song of no bytes must have a beat of a second or more`() throws {
        var message = DuetMessage()
        message.song = Self.song
        #expect(DuetMessage(message.bytes)?.song == Self.song && Self.song.title == "Beat 132.5")
        message.song?.beat = nil
        #expect(DuetMessage(message.bytes) == nil)
        message.song = Self.song
        for duration in [0, -1, 0.5, 1e9] {
            message.song?.duration = duration
            #expect(DuetMessage(message.bytes) == nil, "\(duration)")
        }
        message.song?.duration = 60
        message.song?.byteCount = -1
        #expect(DuetMessage(message.bytes) == nil)
    }
}
