// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioFiles
import Foundation
import Testing

@testable import EarshotDuet

/// The song's player without its thread: its turns are called on virtual time.
@Suite struct SongPlayerTests {
    /// The states that the player reported.
    private final class Reports: Sendable {
        private let states = LockedValue<[SongState]>([])
        var count: Int { states.withLock { $0.count } }
        func append(_ state: SongState) { states.withLock { $0.append(state) } }
    }

    /// A player and a device of 48 kHz, whose callback also has a microphone's block.
    private final class Rig {
        static let rate = 44_100.0
        let folder: TemporaryFolder
        let player: SongPlayer
        let reports = Reports()
        private(set) var seconds = 0.0
        private var sampleTime: Int64 = 0
        private let (input, output) = (
            AudioBuffer(channelCount: 1, frameCapacity: 480), AudioBuffer(channelCount: 1, frameCapacity: 480)
        )
        /// The loudest sample since the last call of ``takePeak()``.
        private var peak: Float = 0

        init(songSeconds: Double) throws {
            folder = try TemporaryFolder()
            let count = Int(songSeconds * Self.rate)
            let path = "\(folder.path)/song.wav"
            try writeSound(path, sampleRate: Self.rate, frameCount: count) {
                Float(0.5 * sin(2 * .pi * 441 * Double($0) / Self.rate))
            }
            let reports = reports
            player = try SongPlayer(path: path, channelCount: 1, deviceRate: 48_000) { reports.append($0) }
        }

        static func time(_ seconds: Double) -> HostTime {
            HostTime(nanoseconds: 7_000_000_000).advanced(bySeconds: seconds)
        }

        /// Runs the device in blocks of 10 ms, and the player's turns every 50 ms.
        func run(until end: Double) {
            while seconds < end - 1e-6 {
                if sampleTime % 2_400 == 0 { _ = player.work() }
                for i in 0..<480 { (input.channels[0][i], output.channels[0][i]) = (0.25, 0) }
                var cycle = IOCycle(
                    frameCount: 480, sampleTime: sampleTime, hostTime: Self.time(seconds), inputLatency: 0,
                    outputLatency: 0.01, input: input.channels, output: output.channels)
                player.memory.callback(&cycle)
                for i in 0..<480 { peak = max(peak, abs(output.channels[0][i] - 0.25)) }
                sampleTime += 480
                seconds = Double(sampleTime) / 48_000
            }
            _ = player.work()
        }

        func takePeak() -> Float {
            defer { peak = 0 }
            return peak
        }
    }

    @Test func `a song plays, pauses, goes on, and its end is reported once`() throws {
        let rig = try Rig(songSeconds: 3)
        rig.player.play(from: SongPosition(units: 0), at: Rig.time(0.5))
        rig.run(until: 0.4)
        #expect(rig.takePeak() == 0 && !rig.player.state.isPlaying)
        rig.run(until: 1.5)
        #expect(abs(rig.takePeak() - 0.5) < 0.01)
        let state = rig.player.state
        #expect(state.isPlaying)
        // The position leaves the loudspeaker at its time.
        let played = state.hostTime.seconds(since: Rig.time(0.5))
        #expect(abs(state.position.frames / Rig.rate - played) < 30e-6)
        rig.player.pause(at: Rig.time(1.7))
        rig.run(until: 2)
        #expect(!rig.player.state.isPlaying && rig.reports.count == 0)
        #expect(abs(rig.player.state.position.frames / Rig.rate - 1.2) < 0.001)
        _ = rig.takePeak()
        rig.run(until: 3)
        #expect(rig.takePeak() == 0)
        rig.player.resume(at: Rig.time(3.1))
        rig.run(until: 6)
        #expect(rig.player.state.hasEnded && !rig.player.state.isPlaying)
        #expect(rig.reports.count == 1)
        #expect(rig.player.state.missingFrameCount == 0)
        rig.player.play(from: SongPosition(frame: 44_100), at: Rig.time(6.2))
        rig.run(until: 7)
        #expect(rig.player.state.isPlaying && !rig.player.state.hasEnded)
        #expect(abs(rig.player.state.position.frames / Rig.rate - 1.81) < 0.02)
    }

    @Test func `a start that is not due moves, and a song that plays or is paused does not`() throws {
        let rig = try Rig(songSeconds: 10)
        func expectStart(_ seconds: Double, _ position: Double = 0) {
            let state = rig.player.state
            let played = state.hostTime.seconds(since: Rig.time(seconds)) + position
            #expect(state.isPlaying && abs(state.position.frames / Rig.rate - played) < 30e-6, "\(played)")
        }
        rig.player.play(from: SongPosition(units: 0), at: Rig.time(0.5))
        rig.run(until: 0.3)
        rig.player.moveStart(to: Rig.time(0.6))
        rig.run(until: 0.4)
        rig.player.moveStart(to: Rig.time(0.4503))
        rig.run(until: 0.8)
        expectStart(0.4503)
        rig.player.moveStart(to: Rig.time(0.9))
        rig.run(until: 1.2)
        expectStart(0.4503)
        // A jump moves in the same way, while the song plays.
        rig.player.play(from: SongPosition(frame: 5 * 44_100), at: Rig.time(1.5))
        rig.run(until: 1.3)
        rig.player.moveStart(to: Rig.time(1.4509))
        rig.run(until: 2)
        expectStart(1.4509, 5)
        #expect(rig.player.state.missingFrameCount == 0)
        rig.player.pause(at: Rig.time(2.1))
        rig.run(until: 2.5)
        rig.player.moveStart(to: Rig.time(2.6))
        rig.run(until: 3)
        #expect(!rig.player.state.isPlaying)
    }

    @Test func `a paused song that jumps stays paused, and goes on from there`() throws {
        let rig = try Rig(songSeconds: 10)
        rig.player.play(from: SongPosition(units: 0), at: Rig.time(0.2))
        rig.run(until: 1)
        rig.player.pause(at: Rig.time(1.1))
        rig.run(until: 1.5)
        _ = rig.takePeak()
        for jump in 1...5 {
            rig.player.seek(to: SongPosition(frame: Int64(jump) * 44_100), at: Rig.time(1.6))
            rig.run(until: 1.5 + 0.1 * Double(jump))
        }
        rig.run(until: 2.5)
        #expect(rig.takePeak() == 0 && !rig.player.state.isPlaying)
        rig.player.resume(at: Rig.time(3))
        rig.run(until: 4)
        let state = rig.player.state
        #expect(abs(state.position.frames / Rig.rate - 5 - state.hostTime.seconds(since: Rig.time(3))) < 50e-6)
        #expect(state.missingFrameCount == 0)
    }

    @Test func `a record that has ended gets no more entries`() throws {
        let rig = try Rig(songSeconds: 10)
        rig.player.play(from: SongPosition(units: 0), at: Rig.time(0.2))
        let log = rig.player.makeLog()
        rig.run(until: 1)
        #expect(!log.takeEntries().isEmpty)
        rig.run(until: 1.5)
        _ = log.end()
        rig.run(until: 2)
        #expect(log.takeEntries().isEmpty)
    }

    @Test func `a record of what was played has the map of each played frame`() throws {
        let rig = try Rig(songSeconds: 10)
        rig.player.play(from: SongPosition(units: 0), at: Rig.time(0.2))
        rig.run(until: 2)
        // In mid-song: the ring's frames were mapped before.
        let log = rig.player.makeLog()
        rig.run(until: 4)
        var (ring, playedCount, mappedCount) = (SongMap(), 0, 0)
        for entry in log.takeEntries() {
            switch entry {
            case .ring(let piece): ring.append(piece)
            case .played(let part) where part.silence == nil:
                playedCount += part.frameCount
                mappedCount += (0..<part.frameCount).count { ring.position(at: Int64(part.ringFrame + $0)) != nil }
            case .played: break
            }
        }
        #expect(playedCount > 90_000 && mappedCount == playedCount)
    }

    @Test func `a file that is no sound has an error`() throws {
        let folder = try TemporaryFolder()
        let path = "\(folder.path)/song.txt"
        try "la la".write(toFile: path, atomically: false, encoding: .utf8)
        #expect(throws: AudioFileError.self) { try SongPlayer(path: path, channelCount: 1, deviceRate: 48_000) }
        #expect(throws: AudioFileError.missing(path: "\(folder.path)/none.wav")) {
            try SongPlayer(path: "\(folder.path)/none.wav", channelCount: 2, deviceRate: 48_000)
        }
    }
}
