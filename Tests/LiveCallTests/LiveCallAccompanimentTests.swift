// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioFiles
import Testing

@testable import EarshotLiveCall

/// The accompaniment in the model of a call.
@Suite struct LiveCallAccompanimentTests {
    private static func guest() -> CoreRig {
        var rig = CoreRig()
        rig.joinAsGuest()
        rig.startSound()
        return rig
    }

    private static func report(
        _ rig: CoreRig, order: Int, path: String = "/songs/a.wav", position: Double = 0, isMoving: Bool = false,
        hasEnded: Bool = false
    ) -> LiveCallCore.Event {
        var report = AccompanimentReport(order: order, time: rig.now)
        report.item = .init(number: 1, count: 2, path: path, title: "Song", duration: 200)
        (report.position, report.isMoving, report.hasEnded) = (position, isMoving, hasEnded)
        return .accompaniment(report)
    }

    /// The events about the accompaniment, as text.
    private static func events(_ rig: CoreRig) -> [String] {
        rig.events.compactMap {
            switch $0.kind {
            case .accompaniment(let status?): "\(status.title) \(status.isPlaying ? "plays" : "paused")"
            case .accompaniment(nil): "none"
            case .accompanimentFailed(let error): "\(error)"
            default: nil
            }
        }
    }

    @Test func `files are loaded, played, and paused at the position that was heard`() throws {
        var rig = Self.guest()
        try rig.perform(.setAccompaniment(files: ["/songs/a.wav", "/songs/b.wav"]))
        #expect(rig.snapshot.accompaniment?.title == "a.wav" && rig.snapshot.accompaniment?.isPlaying == false)
        func item() -> Int? { rig.snapshot.accompaniment.flatMap { AccompanimentDocument($0, at: rig.now).item } }
        #expect(item() == nil, "no file is open yet")
        rig.handle(Self.report(rig, order: 1))
        #expect(item() == 1)
        try rig.perform(.controlAccompaniment(.play))
        rig.handle(Self.report(rig, order: 2, isMoving: true))
        let revision = rig.snapshot.revision
        rig.wait(10)
        #expect(rig.snapshot.revision == revision, "a playing song changes no snapshot")
        #expect(rig.snapshot.accompaniment?.position(at: rig.now) == 10)
        try rig.perform(.controlAccompaniment(.pause))
        rig.wait(5)
        #expect(rig.snapshot.accompaniment?.position(at: rig.now) == 10)
        #expect(Self.events(rig) == ["Song paused", "Song plays", "Song paused"])
        #expect(
            rig.actions.media.filter { $0.hasPrefix("accompany") } == [
                "accompany 1 load /songs/a.wav, /songs/b.wav", "accompany 2 play", "accompany 3 pause",
            ])
    }

    @Test func `a report about an earlier order changes nothing`() throws {
        var rig = Self.guest()
        try rig.perform(.setAccompaniment(files: ["/songs/a.wav"]))
        rig.handle(Self.report(rig, order: 1))
        try rig.perform(.controlAccompaniment(.play))
        try rig.perform(.controlAccompaniment(.seek(to: 50)))
        rig.handle(Self.report(rig, order: 2, position: 3, hasEnded: true))
        #expect(rig.snapshot.accompaniment?.isPlaying == true)
        #expect(rig.snapshot.accompaniment?.position(at: rig.now) == 50)
        rig.handle(Self.report(rig, order: 3, position: 200, hasEnded: true))
        #expect(rig.snapshot.accompaniment?.isPlaying == false)
        #expect(Self.events(rig).last == "Song paused")
    }

    @Test func `positions and gains are clamped`() throws {
        var rig = Self.guest()
        try rig.perform(.setAccompaniment(files: ["/songs/a.wav"]))
        rig.handle(Self.report(rig, order: 1))
        for (seconds, expected) in [(-3, 0), (250, 200), (.nan, 0), (.infinity, 0), (12.5, 12.5)] as [(Double, Double)]
        {
            try rig.perform(.controlAccompaniment(.seek(to: seconds)))
            #expect(rig.snapshot.accompaniment?.position(at: rig.now) == expected, "\(seconds)")
        }
        for (gain, expected) in [(-1, 0), (9, 8), (.nan, 1), (0.5, 0.5)] as [(Float, Float)] {
            try rig.perform(.controlAccompaniment(.setGain(gain)))
            #expect(rig.snapshot.accompaniment?.gain == expected, "\(gain)")
        }
        try rig.perform(.controlAccompaniment(.setForAll(true)))
        try rig.perform(.setAccompaniment(files: ["/songs/b.wav"]))
        #expect(rig.snapshot.accompaniment?.gain == 0.5 && rig.snapshot.accompaniment?.isForAll == true)
    }

    @Test func `an unchanged setting makes no event`() throws {
        var rig = Self.guest()
        try rig.perform(.setAccompaniment(files: ["/songs/a.wav"]))
        rig.handle(Self.report(rig, order: 1))
        let count = Self.events(rig).count
        for control in [AccompanimentControl.pause, .setGain(1), .setForAll(false)] {
            try rig.perform(.controlAccompaniment(control))
        }
        #expect(Self.events(rig).count == count)
    }

    @Test func `commands without an accompaniment or without sound are refused`() throws {
        var rig = Self.guest()
        #expect(rig.refusal(of: .controlAccompaniment(.play)) == .noAccompaniment)
        #expect(rig.refusal(of: .setAccompaniment(files: [])) == .noAccompaniment)
        try rig.perform(.setAccompaniment(files: ["/songs/a.wav"]))
        try rig.perform(.setAccompaniment(files: []))
        #expect(rig.snapshot.accompaniment == nil && Self.events(rig) == ["none"])
        #expect(rig.refusal(of: .controlAccompaniment(.play)) == .noAccompaniment)
        var silent = CoreRig(hasSound: false)
        silent.joinAsGuest()
        #expect(silent.refusal(of: .setAccompaniment(files: ["/songs/a.wav"])) == .noSound)
        #expect(silent.refusal(of: .controlAccompaniment(.play)) == .noSound)
        try rig.perform(.leave)
        #expect(rig.refusal(of: .setAccompaniment(files: ["/songs/a.wav"])) == .ended)
    }

    @Test func `files that cannot be played are named, and without another file the accompaniment is off`() throws {
        var rig = Self.guest()
        try rig.perform(.setAccompaniment(files: ["/songs/a.wav"]))
        rig.handle(.accompanimentFailed(.missing(path: "/songs/a.wav")))
        rig.handle(.accompaniment(AccompanimentReport(order: 1, time: rig.now)))
        #expect(Self.events(rig) == ["/songs/a.wav: no such file", "none"])
        #expect(rig.snapshot.accompaniment == nil && rig.snapshot.ending == nil && rig.snapshot.isInRoom)
    }
}
