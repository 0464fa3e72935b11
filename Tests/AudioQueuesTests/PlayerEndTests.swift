// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioEngine
import EarshotAudioStreams
import Foundation
import TestSupport
import Testing

@testable import EarshotAudioQueues

/// Tests commands during the last frames of a playlist.
@Suite struct PlayerEndTests {
    private let rig = QueueRig()

    /// A paused player of a file whose last frames are enqueued.
    private func paused(_ file: TemporaryFile) throws -> AudioPlayer {
        let player = try AudioPlayer(path: file.path, on: rig.engine)
        try rig.start()
        try player.play()
        try rig.render(19_200)
        player.pause()
        try rig.render(4_800)
        #expect(player.framePosition > 19_200 && player.framePosition < 20_000)
        return player
    }

    @Test func `a player paused near the end can seek and play on from there`() throws {
        let file = try TemporaryFile((0..<20_000).map(numbered))
        let player = try paused(file)
        try player.seek(to: 0)
        try player.play()
        let heard = try rig.render(30_000)
        let at = try #require(heard.firstIndex(of: numbered(0)))
        #expect(Array(heard[at..<at + 20_000]) == (0..<20_000).map(numbered))
        #expect(!player.isPlaying)
    }

    @Test func `a file appended while paused near the end plays after the current one`() throws {
        let (file, next) = (
            try TemporaryFile((0..<20_000).map(numbered)), try TemporaryFile((20_000..<30_000).map(numbered))
        )
        let player = try paused(file)
        try player.append(path: next.path)
        try player.play()
        let heard = try rig.render(30_000)
        // The fade-in of 10 ms ends in the second one.
        let at = try #require(heard.firstIndex(of: numbered(20_500)))
        #expect(Array(heard[at..<at + 9_500]) == (20_500..<30_000).map(numbered))
        #expect(!player.isPlaying && player.framesHeard(ofItem: 1) == 10_000)
    }

    @Test func `both files play completely whenever the second is appended`() throws {
        let file = try TemporaryFile((0..<30_000).map(numbered))
        for frame in stride(from: 0, to: 30_000, by: 1_111) {
            let rig = QueueRig()
            let player = try AudioPlayer(path: file.path, on: rig.engine)
            try rig.start()
            try player.play()
            var heard = try rig.render(frame)
            try player.append(path: file.path)
            heard += try rig.render(60_000 - frame)
            #expect(heard == (0..<30_000).map(numbered) + (0..<30_000).map(numbered), "appended at \(frame)")
        }
    }

    /// Whole buffers and whole pieces of the stretcher, so that the end is reached with nothing left to play.
    @Test(arguments: [14_399, 14_400, 14_401, 144_000]) func `the end of the last item is reported`(length: Int)
        async throws
    {
        let file = try TemporaryFile((0..<length).map(numbered))
        let player = try AudioPlayer(path: file.path, on: rig.engine)
        var events = player.events.makeAsyncIterator()
        try rig.start()
        try player.play()
        try rig.render(length + 9_600)
        var ended: [Int] = []
        while let event = await events.next() {
            if case .itemEnded(let item) = event { ended.append(item) }
            if case .finished = event { break }
        }
        #expect(ended == [0])
    }

    @Test func `a long playlist keeps only a few files open`() throws {
        let file = try TemporaryFile((0..<100).map(numbered))
        // Only this file's descriptors: other tests open files, too.
        func open() throws -> Int {
            try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count { descriptor in
                let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(descriptor)")
                return path == file.path
            }
        }
        let player = try AudioPlayer(format: rig.format, on: rig.engine)
        let before = try open()
        for _ in 0..<200 { try player.append(path: file.path) }
        #expect(try open() <= before + 4)
        try rig.start()
        try player.play()
        let wanted = (0..<200).flatMap { _ in (0..<100).map(numbered) }
        #expect(try rig.render(20_000) == wanted)
    }

    @Test func `a stream that can be played only once waits while another item is sought`() throws {
        let (file, piped) = (
            try TemporaryFile((0..<48_000).map(numbered)), try TemporaryFile((0..<10_000).map(numbered))
        )
        let descriptor = Foundation.open(piped.path, O_RDONLY)
        defer { close(descriptor) }
        let player = try AudioPlayer(path: file.path, on: rig.engine)
        player.append(AudioStream(reading: descriptor, format: rig.format))
        try rig.start()
        try player.play()
        try rig.render(4_800)
        try player.seek(to: 40_000)
        var heard: [Float] = []
        for _ in 0..<4_000 where player.isPlaying {
            heard += try rig.render(480)
            usleep(1_000)
        }
        #expect(player.framesHeard(ofItem: 1) == 10_000)
        #expect(heard.contains(numbered(9_999)))
    }
}
