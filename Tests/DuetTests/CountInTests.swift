// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Foundation
import Testing

@testable import EarshotClockSync
@testable import EarshotDuet

/// The clicks before a song, and its take.
@Suite struct CountInTests {
    private static let waltz = Beat(tempo: 100, beatsPerBar: 3)

    /// A song that begins softly, so that its converted sound has no edge.
    private static func song(at seconds: Double) -> Double {
        seconds < 0 ? Double(waltz.sample(at: seconds)) : min(1, 20 * seconds) * voice(at: seconds)
    }

    /// Returns the sample numbers at which clicks begin: loud after 0.1 s of silence.
    private static func onsets(_ sound: [Float]) -> [Int] {
        var (onsets, silent): ([Int], Int) = ([], 0)
        for (index, sample) in sound.enumerated() {
            if abs(sample) > 1e-3 {
                if silent > 4_800 { onsets.append(index) }
                silent = 0
            } else {
                silent += 1
            }
        }
        return onsets
    }

    @Test func `the clicks of a bar come before the song's first frame, to the sample, the first one accented`() throws
    {
        // The device and the song have one rate, so each frame of the song is one of the device.
        let singer = SingerRig(
            song: 96_000, songRate: 48_000, countIn: Self.waltz,
            output: Card(partsPerMillion: 0, latency: (0, 0)), sings: Self.song)
        try singer.run(until: 0.5)
        try singer.start(at: 1, position: -Self.waltz.countInTime)
        try singer.run(until: 4)
        let sound = singer.outputSound
        let first = 48_000 - Int(-Self.waltz.countInTime * 48_000)
        var worst: Float = 0
        // The fade-in is over before the first click.
        for frame in 48_000 + 300..<first + 50_000 {
            let expected = Float(Self.song(at: Double(frame - first) / 48_000))
            worst = max(worst, abs(sound[frame] - expected))
        }
        #expect(worst < 1e-4, "\(worst)")
        #expect(sound[..<48_000].allSatisfy { $0 == 0 })
        let clicks = Array(Self.onsets(Array(sound[..<first])))
        #expect(clicks.map { first - $0 }.map { ($0 + 100) / 28_800 } == [3, 2, 1], "\(clicks)")
        try #require(clicks.count == 3)
        let peaks = clicks.map { sound[$0..<$0 + 2_000].map(abs).max() ?? 0 }
        #expect(peaks[0] > 1.3 * peaks[1] && abs(peaks[1] - peaks[2]) < 1e-3 && peaks[2] > 0.15, "\(peaks)")
    }

    @Test func `a take begins with the song's first frame, and its count-in is a gap`() throws {
        let singer = SingerRig(
            song: 5 * 44_100, countIn: Self.waltz,
            output: Card(firstFrame: 700, partsPerMillion: 80, latency: (312, 421)), sings: Self.song)
        try singer.run(until: 0.5)
        try singer.start(at: 1, position: -Self.waltz.countInTime)
        try singer.run(until: 5)
        singer.finish()
        let map = singer.map
        let first = try #require(map.pieces.first)
        // Two frames of the device or less.
        #expect(first.position.frames > -1e-6 && first.position.frames < 2, "\(first.position.frames)")
        #expect(singer.largestError < 1e-3)
        for piece in map.pieces {
            let truth = try #require(singer.truth[Int(piece.frame)])
            #expect(abs(piece.position.frames - truth) < 0.01)
        }
        let gaps = singer.entries.compactMap { if case .gap(let gap) = $0 { gap } else { nil } }
        #expect(gaps.last?.reason == .stopped && gaps.last?.end == first.frame)
        let plan = StemPlan(map, frameCount: 5 * 44_100)
        #expect(plan.sections.first?.songFrames.lowerBound == 0)
    }

    @Test func `a position is clamped to the count-in, and to the song without one`() throws {
        for (countIn, earliest) in [(Self.waltz, -Self.waltz.countInTime), (nil, 0)] as [(Beat?, Double)] {
            let singer = SingerRig(
                song: 44_100, countIn: countIn, output: Card(partsPerMillion: 0, latency: (0, 0)), sings: Self.song)
            try singer.start(at: 1, position: -60)
            try singer.run(until: 1.2)
            let heard = try #require(singer.firstHeard)
            #expect(abs(heard.position / 44_100 - earliest) < 1e-4)
        }
    }

    // MARK: The agreement

    /// The positions of a member's orders to play.
    private static func positions(_ member: DuetRig.Member) -> [Double] { member.orders.compactMap(\.position) }

    @Test(arguments: 1...10 as ClosedRange<UInt64>)
    func `all members count in together, and a song's beginning has a count-in again`(seed: UInt64) throws {
        var rig = DuetRig(3, seed: seed)
        let countIn = DuetRig.song.countIn.countInTime
        #expect(countIn > 2 && countIn < 2.1)
        try rig.start(3)
        rig.run(2.8)
        #expect(rig.present.allSatisfy { rig.position($0) ?? 0 < 0 })
        #expect(try #require(rig.spread) < rig.tolerance)
        #expect(rig.members.allSatisfy { abs(Self.positions($0)[0] + countIn) < 1e-6 })
        // A pause in the count-in begins it again.
        try rig.members[1].core.pause(at: rig.local(1))
        rig.run(2)
        try rig.members[2].core.resume(at: rig.local(2))
        rig.run(1.5)
        #expect(rig.present.allSatisfy { rig.position($0) ?? 0 < -0.5 })
        #expect(try #require(rig.spread) < rig.tolerance)
        rig.run(5)
        // A seek into the song has no count-in, one to its beginning has one.
        let count = rig.members.map { Self.positions($0).count }
        try rig.members[0].core.seek(to: 30, at: rig.local(0))
        rig.run(2.5)
        #expect(rig.present.allSatisfy { abs((rig.position($0) ?? 0) - 32) < 0.1 })
        try rig.members[0].core.seek(to: 0, at: rig.local(0))
        rig.run(1.5)
        for index in rig.present {
            let new = Self.positions(rig.members[index]).dropFirst(count[index])
            #expect(new.allSatisfy { $0 > 29 || $0 < 0 } && new.contains { $0 < -1.2 }, "\(new)")
            let phase = rig.status(index).phase
            #expect(phase == .counting(-(rig.members[index].core.duePosition(at: rig.local(index)) ?? 0)), "\(phase)")
        }
        #expect(try #require(rig.spread) < rig.tolerance)
    }

    @Test func `a slow beat counts in for longer, and who comes late joins in the count-in`() throws {
        var core = DuetCore(own: 1, singer: 11)
        var song = DuetRig.song
        song.beat = Beat(tempo: 30, beatsPerBar: 8)
        core.setMembers([0, 1], host: 0)
        var message = DuetMessage()
        (message.song, message.clock) = (song, .init(term: 1, from: 0, to: 0, rate: 0))
        func time(_ seconds: Double) -> HostTime { HostTime(nanoseconds: 0).advanced(bySeconds: seconds) }
        var position: Double?
        for turn in 0..<60 {
            let now = Double(turn) * 0.05
            core.setClock(
                PeerClock(
                    localReference: time(now), peerReference: time(now), rate: 0, rateError: 1e-6, error: 1e-5,
                    roundTripError: 1e-3), of: 0)
            if turn == 20 {
                // The count-in began 6 s ago.
                message.transport = DuetTransport()
                message.transport?.revision = 1
                message.transport?.state = .playing
                message.transport?.time = 11_000_000_000
                core.setPresentSong(song.hash)
                try core.agree()
            }
            core.receive(message.bytes, from: 0, at: time(now))
            for case .play(let from, let at) in core.tick(at: time(now)) {
                #expect(abs(from - (at.seconds(since: time(0)) - 11)) < 1e-3)
                position = position ?? from
            }
        }
        let first = try #require(position)
        #expect(song.countIn.countInTime > 16 && abs(first + 9.7) < 0.1, "\(first)")
    }

    @Test func `a song's beat is in its message, an older message has none, and wrong beats are refused`() throws {
        var message = DuetMessage()
        message.song = DuetRig.song
        let old = message.bytes
        #expect(!String(decoding: old, as: UTF8.self).contains("beat") && DuetMessage(old)?.song?.beat == nil)
        message.song?.beat = Self.waltz
        #expect(String(decoding: message.bytes, as: UTF8.self).contains(#""beat":{"bar":3,"bpm":100}"#))
        #expect(DuetMessage(message.bytes)?.song?.beat == Self.waltz)
        for (tempo, bar) in [(0, 4), (29.9, 4), (1_000, 4), (-100, 4), (100, 1), (100, 9)] {
            message.song?.beat = Beat(tempo: tempo, beatsPerBar: bar)
            #expect(DuetMessage(message.bytes) == nil, "\(tempo) \(bar)")
        }
    }
}
