// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioContainers
import EarshotCall
import Foundation
import TestTraits
import Testing

@testable import EarshotLiveCall

/// The recorded local voice of a microphone with its own clock and its own frame counter.
@Suite(.optimized) struct RecordedMicrophoneTests {
    /// A call without other participants, on virtual time, in which the microphone clicks once a second.
    private final class Rig {
        private let processor = CallProcessor(channelCount: 1, deviceRate: 48_000, wakeup: Wakeup())
        private let writer: CallRecordingWriter
        private let folder: String
        private let input = AudioBuffer(channelCount: 1, frameCapacity: 64)
        private let output = AudioBuffer(channelCount: 1, frameCapacity: 64)

        init() throws {
            let recording = CallRecording(of: processor, sampleRate: 48_000, channelCount: 1)
            recording.begin(includesRawVoice: true)
            var settings = CallRecordingSettings.exact
            settings.recordsRawVoice = true
            var state = RecordedCallState(name: "Ann")
            state.hasSeparateMicrophone = true
            folder = try RecordingFolder.create(
                NSTemporaryDirectory() + "earshot-microphone-\(UUID().uuidString)", room: "Blue Room")
            writer = try CallRecordingWriter(recording, folder: folder, settings, state: state, room: "Blue Room")
        }

        deinit { try? FileManager.default.removeItem(atPath: folder) }

        /// Runs both devices, and completes the files.
        /// - Parameter drift: the deviation of the playing device's clock in ppm.
        func run(seconds: Double, drift: Double) {
            let playedRate = 48_000 * (1 + drift * 1e-6)
            var (played, captured, turn) = (0, 0, 0.15)
            while true {
                let (playTime, captureTime) = (Double(played) / playedRate, Double(captured) / 48_000)
                let now = min(playTime, captureTime)
                if now >= turn {
                    writer.writeArrivedSound(at: time(now))
                    turn += 0.15
                }
                if now >= seconds { break }
                if playTime <= captureTime { play(played, playTime) } else { capture(captured, captureTime) }
                if playTime <= captureTime { played += 64 } else { captured += 64 }
            }
            _ = writer.finish(at: time(seconds))
        }

        private func time(_ seconds: Double) -> HostTime {
            HostTime(nanoseconds: 5_000_000_000).advanced(bySeconds: seconds)
        }

        private func play(_ frame: Int, _ seconds: Double) {
            var cycle = IOCycle(
                frameCount: 64, sampleTime: Int64(frame), hostTime: time(seconds), inputLatency: 0, outputLatency: 0,
                input: Channels(input.channels.pointers, count: 0), output: output.channels)
            processor.playbackCallback(&cycle)
        }

        private func capture(_ frame: Int, _ seconds: Double) {
            for i in 0..<64 { input.channels[0][i] = (frame + i) % 48_000 == 24_000 ? 0.5 : 0 }
            var cycle = IOCycle(
                frameCount: 64, sampleTime: 1_000_000 + Int64(frame), hostTime: time(seconds), inputLatency: 0,
                outputLatency: 0, input: input.channels, output: Channels(output.channels.pointers, count: 0))
            processor.captureCallback(&cycle)
        }

        /// Returns the frame of the loudest sample near each click, less the frame that the playing device had then.
        func errors(_ file: String, seconds: Int, drift: Double) throws -> [Int] {
            let samples = try readSamples("\(folder)/\(file)")
            return try (0..<seconds - 1).map { second in
                let expected = Int((Double(24_000 + 48_000 * second) * (1 + drift * 1e-6)).rounded())
                let near = expected - 4_800..<expected + 4_800
                try #require(samples.count > near.upperBound, "\(file) has \(samples.count) frames")
                let loudest = try #require(near.max { abs(samples[$0]) < abs(samples[$1]) })
                try #require(abs(samples[loudest]) > 0.2, "no click in second \(second)")
                return loudest - expected
            }
        }
    }

    /// A clock's deviation of 100 ppm moves the voice by 24 frames at most, not by 5 a second for ever.
    @Test(arguments: [0.0, 100, -100])
    func `the voice of a separate microphone stays on the playing device's timeline`(drift: Double) throws {
        let rig = try Rig()
        rig.run(seconds: 20, drift: drift)
        let errors = try rig.errors("Ann.wav", seconds: 20, drift: drift)
        #expect(errors.allSatisfy { abs($0) <= 24 }, "\(errors)")
    }

    @Test(arguments: [0.0, 100, -100])
    func `the raw voice of a separate microphone lies where the dry one does`(drift: Double) throws {
        let rig = try Rig()
        rig.run(seconds: 5, drift: drift)
        let errors = try rig.errors("Ann raw.wav", seconds: 5, drift: drift)
        #expect(errors.allSatisfy { abs($0) <= 24 }, "\(errors)")
    }
}
