// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioFiles
import Foundation
import Testing

@testable import EarshotDuet

/// A guide vocal in its song, heard through a device of 48 kHz on virtual time.
@Suite struct GuideVocalTests {
    private static let rate = 44_100.0

    /// The states that the player reported.
    private final class Reports: Sendable {
        let states = LockedValue<[SongState]>([])
    }

    /// A song, and a guide vocal that is its negative: at full level they cancel if each frame is in its place.
    private final class Rig {
        let folder: TemporaryFolder
        let player: SongPlayer
        let reports = Reports()
        private(set) var seconds = 0.0
        private var sampleTime: Int64 = 0
        private let (input, output) = (
            AudioBuffer(channelCount: 1, frameCapacity: 480), AudioBuffer(channelCount: 1, frameCapacity: 480)
        )
        /// The energy and the frames since the last call of ``takeLevel()``, and the largest step between two samples.
        private var (energy, frameCount) = (0.0, 0)
        private var (step, last): (Float, Float) = (0, 0)

        init() throws {
            folder = try TemporaryFolder()
            let path = "\(folder.path)/song.wav"
            try writeSound(path, sampleRate: GuideVocalTests.rate, frameCount: Int(20 * GuideVocalTests.rate)) {
                Float(voice(at: Double($0) / GuideVocalTests.rate))
            }
            let reports = reports
            player = try SongPlayer(path: path, channelCount: 1, deviceRate: 48_000) { state in
                reports.states.withLock { $0.append(state) }
            }
        }

        /// Writes the song's negative at a rate, and gives it to the player.
        func addGuide(rate: Double = GuideVocalTests.rate, seconds: Double = 20) throws {
            let path = "\(folder.path)/guide.wav"
            try writeSound(path, sampleRate: rate, frameCount: Int(seconds * rate)) {
                -Float(voice(at: Double($0) / rate))
            }
            player.setGuide(path: path)
        }

        static func time(_ seconds: Double) -> HostTime {
            HostTime(nanoseconds: 7_000_000_000).advanced(bySeconds: seconds)
        }

        /// Runs the device in blocks of 10 ms, and the player's turns every 50 ms.
        func run(until end: Double) {
            while seconds < end - 1e-6 {
                if sampleTime % 2_400 == 0 { _ = player.work() }
                clearSamples(output.channels[0], 480)
                var cycle = IOCycle(
                    frameCount: 480, sampleTime: sampleTime, hostTime: Self.time(seconds), inputLatency: 0,
                    outputLatency: 0.01, input: input.channels, output: output.channels)
                player.memory.callback(&cycle)
                for i in 0..<480 {
                    let sample = output.channels[0][i]
                    energy += Double(sample * sample)
                    (step, last) = (max(step, abs(sample - last)), sample)
                }
                frameCount += 480
                sampleTime += 480
                seconds = Double(sampleTime) / 48_000
            }
        }

        /// Returns the RMS level since the last call.
        func takeLevel() -> Double {
            defer { (energy, frameCount, step) = (0, 0, 0) }
            return (energy / Double(max(1, frameCount))).squareRoot()
        }

        var largestStep: Float { step }
    }

    @Test(arguments: [44_100.0, 48_000, 22_050])
    func `each frame of a guide vocal is at that of its song, also after a seek, at any rate`(rate: Double) throws {
        let rig = try Rig()
        try rig.addGuide(rate: rate)
        rig.player.setGuideGain(1)
        rig.player.play(from: SongPosition(units: 0), at: Rig.time(0.2))
        rig.run(until: 0.5)
        _ = rig.takeLevel()  // the guide fades in
        rig.run(until: 3)
        #expect(rig.takeLevel() < 5e-4)
        rig.player.seek(to: SongPosition(frame: 300_007), at: Rig.time(3.2))
        rig.run(until: 3.5)
        _ = rig.takeLevel()
        rig.run(until: 5)
        #expect(rig.takeLevel() < 5e-4)
        #expect(rig.player.state.missingFrameCount == 0 && rig.player.state.guideFailure == nil)
    }

    @Test func `a change of the level is heard within 0.8 s, without a click, and a late guide begins in place`() throws
    {
        let rig = try Rig()
        rig.player.play(from: SongPosition(units: 0), at: Rig.time(0.2))
        rig.run(until: 0.5)
        _ = rig.takeLevel()
        rig.run(until: 2)
        let alone = rig.takeLevel()
        #expect(alone > 0.2)
        // The file arrives in mid-song.
        rig.player.setGuideGain(1)
        try rig.addGuide()
        rig.run(until: 2.8)
        let largest = rig.largestStep
        _ = rig.takeLevel()
        rig.run(until: 4)
        #expect(rig.takeLevel() < 5e-4)
        rig.player.setGuideGain(0.2)
        rig.run(until: 4.8)
        _ = rig.takeLevel()
        rig.run(until: 6)
        #expect(abs(rig.takeLevel() / alone - 0.8) < 0.02)
        rig.player.setGuideGain(0)
        rig.run(until: 6.8)
        _ = rig.takeLevel()
        rig.run(until: 8)
        #expect(abs(rig.takeLevel() / alone - 1) < 0.02)
        rig.player.setGuideGain(1)
        rig.run(until: 8.8)
        #expect(max(largest, rig.largestStep) < 0.06, "\(largest) \(rig.largestStep)")
        _ = rig.takeLevel()
        rig.run(until: 9.5)
        #expect(rig.takeLevel() < 5e-4)
    }

    @Test func `a guide vocal that is shorter, missing or no sound does not disturb its song`() throws {
        let rig = try Rig()
        rig.player.setGuideGain(1)
        try rig.addGuide(seconds: 1)
        rig.player.play(from: SongPosition(units: 0), at: Rig.time(0.2))
        rig.run(until: 2)
        _ = rig.takeLevel()
        rig.run(until: 3)
        #expect(rig.takeLevel() > 0.2 && rig.reports.states.withLock { $0.isEmpty })
        rig.player.setGuide(path: "\(rig.folder.path)/none.wav")
        rig.run(until: 4)
        #expect(rig.takeLevel() > 0.2 && rig.player.state.failure == nil)
        let failures = rig.reports.states.withLock { $0.compactMap(\.guideFailure) }
        #expect(failures == [.missing(path: "\(rig.folder.path)/none.wav")])
    }
}
