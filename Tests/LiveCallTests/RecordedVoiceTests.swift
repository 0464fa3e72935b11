// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotCall
import Foundation
import TestSupport
import TestTraits
import Testing

@testable import EarshotLiveCall

/// A participant's voice in a recording, whose volume and permission change inside a block.
@Suite(.optimized) struct RecordedVoiceTests {
    /// The files of Bob's voice and of the mix, at 48 kHz.
    private final class Files {
        let folder: String
        let voice: RecordedVoice
        let mix: RecordingMix

        init() throws {
            let format = AudioFormat(sampleRate: 48_000, channelCount: 1)
            folder = try RecordingFolder.create(
                NSTemporaryDirectory() + "earshot-voice-\(UUID().uuidString)", room: "Blue Room")
            voice = RecordedVoice(
                try RecordingTrack(path: "\(folder)/Bob.wav", format: format, .exact), format: format, key: nil,
                name: "Bob")
            mix = RecordingMix(
                try RecordingTrack(path: "\(folder)/mix.wav", format: format, .exact), format: format)
        }

        deinit { try? FileManager.default.removeItem(atPath: folder) }
    }

    /// The volume changes in a block of 128 frames, also just before its end.
    @Test(arguments: [1, 64, 127, 128]) func `a volume changes without a click`(place: Int) throws {
        let files = try Files()
        let (folder, voice) = (files.folder, files.voice)
        var mix = files.mix
        let block = AudioBuffer(channelCount: 1, frameCapacity: 128)
        for i in 0..<128 { block.channels[0][i] = 0.5 }
        voice.update(name: "Bob", silenceReason: nil, volume: 1, at: 0)
        voice.update(name: "Bob", silenceReason: nil, volume: 0.25, at: 256 + place)
        for n in 0..<8 {
            voice.add(ReadOnlyChannels(block.channels), frameCount: 128)
            voice.write(frameCount: 128, at: 128 * n, end: nil, limit: 48_000, to: &mix)
        }
        mix.write(to: 1_024)
        mix.track.close()
        voice.finish(at: 1_024, tolerance: 0)
        let samples = try readSamples("\(folder)/mix.wav")
        try #require(samples.count == 1_024)
        #expect(samples[255 + place] == 0.5 && abs(samples[256 + place + 240] - 0.125) < 1e-6)
        let steps = zip(samples, samples.dropFirst()).map { abs($1 - $0) }
        #expect(steps.max().map { $0 < 0.5 * 0.75 / 200 } ?? false, "\(steps.max() ?? 0)")
    }

    @Test func `the mix of loud voices stays within full scale`() throws {
        let files = try Files()
        var mix = files.mix
        let block = AudioBuffer(channelCount: 1, frameCapacity: 1_024)
        for i in 0..<1_024 { block.channels[0][i] = 0.8 }
        for _ in 0..<2 { mix.add(block.channels, frameCount: 1_024, offset: 0, at: 0, gain: 1, to: 1) }
        mix.write(to: 1_024)
        mix.track.close()
        let samples = try readSamples("\(files.folder)/mix.wav")
        #expect(samples.count == 1_024 && samples.allSatisfy { $0 > 0.99 && $0 <= 1 })
    }

    /// The answer changes in a block of 128 frames, also at its ends, and a volume with it.
    @Test(arguments: [0, 1, 64, 127, 128]) func `an answer about the recording changes without a click`(place: Int)
        throws
    {
        let (rate, amplitude, count) = (48_000.0, 0.2, 4_096)
        let files = try Files()
        let (folder, voice) = (files.folder, files.voice)
        var mix = files.mix
        let block = AudioBuffer(channelCount: 1, frameCapacity: 128)
        let (silence, sound) = (1_024 + place, 2_048 + place)
        voice.update(name: "Bob", silenceReason: nil, volume: 1, at: 0)
        voice.update(name: "Bob", silenceReason: nil, volume: 0.5, at: silence - 100)
        voice.update(name: "Bob", silenceReason: .declined, volume: 0.5, at: silence)
        voice.update(name: "Bob", silenceReason: nil, volume: 0.5, at: sound)
        for start in stride(from: 0, to: count, by: 128) {
            for i in 0..<128 {
                block.channels[0][i] = sine(start + i, frequency: 440, rate: rate, amplitude: amplitude)
            }
            voice.add(ReadOnlyChannels(block.channels), frameCount: 128)
            voice.write(frameCount: 128, at: start, end: nil, limit: 48_000, to: &mix)
        }
        mix.write(to: count)
        mix.track.close()
        voice.finish(at: count, tolerance: 0)
        #expect(voice.track.gaps == [.init(frame: silence, frameCount: 1_024, reason: .declined)])
        let bob = try readSamples("\(folder)/Bob.wav")
        try #require(bob.count == count)
        #expect(bob[silence..<sound].allSatisfy { $0 == 0 })
        let complete = Array(0..<silence - 240) + Array(sound + 240..<count)
        #expect(
            complete.allSatisfy {
                abs(bob[$0] - sine($0, frequency: 440, rate: rate, amplitude: amplitude)) < 1e-6
            })
        for file in ["Bob", "mix"] {
            let defect = sineDefect(
                try readSamples("\(folder)/\(file).wav"), frequency: 440, rate: rate, amplitude: amplitude)
            #expect(defect + decibels(amplitude) < -60, "\(file): \(defect) dB below the sine")
        }
    }
}
