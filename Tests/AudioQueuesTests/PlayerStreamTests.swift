// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioEngine
import EarshotAudioStreams
import Foundation
import Synchronization
import TestSupport
import TestTraits
import Testing

@testable import EarshotAudioQueues

/// Addresses in a player's playlist, over real connections. Nothing here depends on their speed.
@Suite(.realTime) struct PlayerStreamTests {
    private let rig = QueueRig()

    /// Begins and retries quickly.
    private var options: AudioStreamOptions {
        var options = AudioStreamOptions()
        options.prebuffer = 0.2
        options.reconnection.firstDelay = 0.02
        return options
    }

    /// Returns the position at which numbered frames begin.
    private func first(_ heard: [Float]) throws -> Int { try #require(heard.firstIndex(of: numbered(0))) }

    @Test func `a file over HTTP and a local file join without a gap`() throws {
        let remote = try TemporaryFile((0..<20_000).map(numbered))
        let local = try TemporaryFile((20_000..<30_000).map(numbered))
        let bytes = try remote.bytes
        let server = try LoopbackServer { connection in
            connection.send("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: \(bytes.count)\r\n\r\n")
            connection.send(bytes)
        }
        let player = try AudioPlayer(format: rig.format, on: rig.engine)
        try player.append(url: server.address("/a?key=secret"))
        try player.append(path: local.path)
        #expect(player.names == [server.address("/a"), local.path])
        try rig.start()
        player.prepareToPlay()
        try expectReady(player, frames: 20_000)
        try player.play()
        let heard = try rig.render(60_000)
        let at = try first(heard)
        #expect(Array(heard[at..<at + 30_000]) == (0..<30_000).map(numbered))
        #expect(player.queue.statistics.underrun == 0 && !player.isPlaying)
        #expect(player.framesHeard(ofItem: 0) == 20_000 && player.framesHeard(ofItem: 1) == 10_000)
        #expect(player.frameCount(ofItem: 0) == 20_000)
    }

    @Test func `two files over HTTP join without a gap`() throws {
        let files = [try TemporaryFile((0..<30_000).map(numbered)), try TemporaryFile((30_000..<40_000).map(numbered))]
        let bytes = try files.map { try $0.bytes }
        let server = try LoopbackServer { connection in
            connection.send("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
            connection.send(bytes[connection.request.hasPrefix("GET /0 ") ? 0 : 1])
        }
        let player = try AudioPlayer(format: rig.format, on: rig.engine)
        for k in 0...1 { try player.append(url: server.address("/\(k)")) }
        try rig.start()
        player.prepareToPlay()
        try expectReady(player, frames: 30_000)
        try player.play()
        // The first stream is read to its end: the second one connects meanwhile.
        var heard = try rig.render(24_000)
        try expectReady(player, item: 1, frames: 10_000)
        heard += try rig.render(60_000)
        let at = try first(heard)
        #expect(Array(heard[at..<at + 40_000]) == (0..<40_000).map(numbered))
    }

    @Test func `a stall gives silence and a state change, and playback resumes where it stopped`() async throws {
        let file = try TemporaryFile((0..<96_000).map(numbered))
        let bytes = try file.bytes
        let flag = Flag()
        let server = try LoopbackServer { connection in
            connection.send("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: \(bytes.count)\r\n\r\n")
            connection.send(Array(bytes[..<100_000]))
            while !flag.isSet { usleep(1_000) }
            connection.send(Array(bytes[100_000...]))
        }
        let player = try AudioPlayer(format: rig.format, on: rig.engine)
        var events = player.events.makeAsyncIterator()
        try player.append(url: server.address(), options: options)
        try rig.start()
        player.prepareToPlay()
        try expectReady(player, frames: 20_000)
        try player.play()
        var heard = try rig.render(60_000)
        #expect(heard.suffix(10_000).allSatisfy { $0 == 0 })
        for _ in 0..<4_000 where player.stream(ofItem: 0)?.state != .buffering { usleep(5_000) }
        heard += try rig.render(9_600)
        let stood = player.framePosition
        heard += try rig.render(4_800)
        #expect(player.framePosition == stood && stood > 20_000 && stood < 26_000, "\(stood)")
        flag.set()
        try expectReady(player, frames: 96_000)
        heard += try rig.render(120_000)
        #expect(player.framesHeard(ofItem: 0) == 96_000 && player.queue.statistics.underrun == 0)
        #expect(player.stream(ofItem: 0)?.statistics.stalls == 1)
        // Complete except for the fades, and in order.
        let sound = heard.filter { $0 != 0 }
        let whole = sound.enumerated().filter { abs($0.element - numbered($0.offset)) < 0x1p-25 }.count
        #expect(sound.count >= 95_990 && sound.count <= 96_000 && whole > 20_000, "\(sound.count), \(whole)")
        #expect(Array(sound.suffix(40_000)) == (56_000..<96_000).map(numbered))
        var states: [AudioStreamState] = []
        while let event = await events.next() {
            if case .stream(0, let state) = event { states.append(state) }
            if case .finished = event { break }
        }
        #expect(states.contains(.playing) && states.filter { $0 == .buffering }.count == 1, "\(states)")
    }

    @Test func `a live stream ignores the playback rate, reports titles and reconnects on a restart`() async throws {
        let file = try TemporaryFile((0..<400_000).map(numbered))
        let sound = try file.bytes
        let body = LoopbackServer.interleave(
            sound, interval: 40_000, texts: [0: Array("StreamTitle='One';".utf8), 5: Array("StreamTitle='Two';".utf8)])
        let over = Flag()
        let server = try LoopbackServer { connection in
            connection.send("HTTP/1.0 200 OK\r\nicy-name: Radio\r\nicy-metaint: 40000\r\n\r\n")
            connection.send(body)
            while !over.isSet { usleep(1_000) }
        }
        defer { over.set() }
        let player = try AudioPlayer(format: rig.format, on: rig.engine)
        var events = player.events.makeAsyncIterator()
        player.rate = 2
        try player.append(url: server.address(), options: options)
        try rig.start()
        player.prepareToPlay()
        try expectReady(player, frames: 200_000)
        try player.play()
        let heard = try rig.render(120_000)
        let at = try first(heard)
        #expect(Array(heard[at..<at + 90_000]) == (0..<90_000).map(numbered))
        #expect(player.stream(ofItem: 0)?.source?.isLive == true && player.duration == 0)
        #expect(throws: AudioPlayerError.self) { try player.seek(to: 48_000) }
        var titles: [String] = []
        while titles.last != "Two", let event = await events.next() {
            if case .title(0, let title) = event { titles.append(title) }
        }
        #expect(titles == ["Radio", "One", "Two"])
        try player.seek(to: 0)
        for _ in 0..<4_000 where server.requests.count < 2 {
            try rig.render(480)
            usleep(5_000)
        }
        #expect(server.requests.count == 2)
        player.stop()
        try rig.render(4_800)
        #expect(!player.isPlaying)
    }

    /// Renders until a stretch of numbered frames was played, and returns the first frame of the last stretch.
    private func run(_ player: AudioPlayer, until frame: Int) throws -> [Float] {
        var heard: [Float] = []
        for _ in 0..<4_000 where player.framePosition < frame || heard.suffix(480).contains(0) {
            heard += try rig.render(480)
            usleep(2_000)
        }
        return heard
    }

    @Test func `a file over HTTP seeks to exact frames`() throws {
        let file = try TemporaryFile((0..<960_000).map(numbered))
        let bytes = try file.bytes
        let server = try LoopbackServer { $0.send(file: bytes) }
        let player = try AudioPlayer(format: rig.format, on: rig.engine)
        try player.append(url: server.address(), options: options)
        try rig.start()
        // Before it has answered, while it plays, twice in a row, while it is paused.
        try player.seek(to: 100_000)
        #expect(player.framePosition == 100_000 && !player.isSeekable())
        try player.play()
        for (frame, before) in [(100_000, nil), (900_000, nil), (300_000, 700_000), (20_000, 0)] {
            if frame == 20_000 { player.pause() }
            if let before { try player.seek(to: before) }
            if frame != 100_000 { try player.seek(to: frame) }
            #expect(player.framePosition == frame)
            if frame == 20_000 {
                try rig.render(9_600)
                #expect(player.framePosition == frame)
                try player.play()
            }
            let heard = try run(player, until: frame + 9_600)
            let end = try #require(heard.lastIndex { $0 != 0 })
            let last = Int(heard[end] * 0x1p23) - 1
            #expect(last >= frame + 9_000 && last < frame + 40_000)
            let count = last - frame - 480  // behind the fade
            #expect(Array(heard[(end - count + 1)...end]) == ((last - count + 1)...last).map(numbered))
            // No frame in between is played.
            #expect(heard.prefix(end - count).suffix(400).allSatisfy { $0 < numbered(frame + 481) })
            #expect(player.isSeekable())
        }
        #expect(player.queue.statistics.underrun == 0 && player.stream(ofItem: 0)?.statistics.stalls == 0)
        try player.seek(to: -1)
        #expect(player.framePosition == 0)
        _ = try run(player, until: 4_800)
        try player.seek(to: .max)
        for _ in 0..<4_000 where player.isPlaying {
            try rig.render(480)
            usleep(2_000)
        }
        #expect(!player.isPlaying)
    }

    @Test func `a server without range support is reported, even after a delay, and playback continues`() async throws {
        let file = try TemporaryFile((0..<96_000).map(numbered))
        let bytes = try file.bytes
        let server = try LoopbackServer { $0.send(file: bytes, hasRanges: false) }
        let player = try AudioPlayer(format: rig.format, on: rig.engine)
        var events = player.events.makeAsyncIterator()
        try player.append(url: server.address(), options: options)
        try rig.start()
        try player.seek(to: 50_000)
        try player.play()
        var heard: [Float] = []
        for _ in 0..<4_000 where player.framePosition >= 50_000 {  // where it was to go
            heard += try rig.render(480)
            usleep(2_000)
        }
        heard += try run(player, until: 30_000)
        #expect(heard.contains(numbered(1_000)))
        let place = player.framePosition
        let failure = #expect(throws: AudioPlayerError.self) { try player.seek(to: 60_000) }
        guard case .stream(.notSeekable(let address, _)) = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(address == server.address() && player.framePosition == place)
        var rest: [Float] = []
        for _ in 0..<4_000 where player.isPlaying {
            rest += try rig.render(480)
            usleep(2_000)
        }
        #expect(rest.contains(numbered(95_999)) && server.requests.count == 1)
        while let event = await events.next() {
            if case .finished = event { break }
            if case .seekRefused(0, .stream(.notSeekable)) = event { return }
        }
        Issue.record("nothing told of the first seek")
    }

    @Test func `a web page is reported in the error, and the next item plays`() async throws {
        let file = try TemporaryFile((0..<5_000).map(numbered))
        let server = try LoopbackServer { connection in
            connection.send(
                "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n<!DOCTYPE html><html><body>x</body></html>"
            )
        }
        let player = try AudioPlayer(format: rig.format, on: rig.engine)
        var events = player.events.makeAsyncIterator()
        try player.append(url: server.address("/page"))
        try player.append(path: file.path)
        #expect(throws: AudioPlayerError.self) { try player.append(url: "ftp://nowhere/x") }
        try rig.start()
        try player.play()
        var heard: [Float] = []
        for _ in 0..<4_000 where player.isPlaying {
            heard += try rig.render(480)
            usleep(2_000)
        }
        let at = try first(heard)
        #expect(Array(heard[at..<at + 5_000]) == (0..<5_000).map(numbered))
        var failure: AudioPlayerError?
        while let event = await events.next() {
            if case .failed(0, let error) = event { failure = error }
            if case .finished = event { break }
        }
        guard case .stream(.notAudio(let address, _)) = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        #expect(address == server.address("/page"))
    }

    private final class Flag: Sendable {
        private let value = Atomic(false)
        var isSet: Bool { value.load(ordering: .acquiring) }
        func set() { value.store(true, ordering: .releasing) }
    }
}
