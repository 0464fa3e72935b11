// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioFiles
import Foundation
import TestSupport
import Testing

/// Files for several speakers and the order of their channels.
@Suite struct ChannelOrderTests {
    private static let layouts = [3: "3.0", 4: "quad", 5: "5.0", 6: "5.1", 7: "6.1", 8: "7.1"]

    /// Returns the tone of the n-th channel in the order of WAV; the low-frequency channel always has its own.
    private func hertz(_ channel: Int, of count: Int) -> Double {
        channel == 3 && count > 5 ? 60 : 400 + 150 * Double(channel)
    }

    private func file(_ folder: Folder, _ name: String, channels: Int, _ options: [String]) throws -> String {
        let path = folder.path(name)
        let tones = (0..<channels).map { "0.3*sin(2*PI*\(hertz($0, of: channels))*t)" }.joined(separator: "|")
        let source = "aevalsrc=\(tones):c=\(try #require(Self.layouts[channels])):d=0.5:s=48000"
        let run = try ChildProcess.run(
            ["ffmpeg", "-nostdin", "-v", "error", "-f", "lavfi", "-i", source] + options + [path])
        #expect(run.status == 0, "\(run.errors)")
        return path
    }

    /// Returns the level of a tone, 0 to 1.
    private func level(_ samples: ArraySlice<Float>, _ hertz: Double) -> Double {
        var (re, im) = (0.0, 0.0)
        for (i, x) in samples.enumerated() {
            let phase = 2 * Double.pi * hertz * Double(i) / 48_000
            re += Double(x) * cos(phase)
            im += Double(x) * sin(phase)
        }
        return 2 * hypot(re, im) / Double(samples.count)
    }

    /// Returns the channel whose tone is loudest in each channel of the file.
    private func heard(_ path: String, _ channels: Int) throws -> [Int] {
        try contents(path).map { samples in
            let levels = (0..<channels).map { level(samples[4_800..<19_200], hertz($0, of: channels)) }
            #expect(levels.filter { $0 > 0.1 }.count == 1, "\(levels)")
            return levels.firstIndex(of: levels.max() ?? 0) ?? -1
        }
    }

    @Test("The centre channel is third and the low-frequency channel fourth in every format", arguments: 3...8)
    func order(channels: Int) throws {
        let folder = try Folder()
        for (name, options) in [
            ("a.flac", []), ("a.ogg", ["-c:a", "libvorbis", "-q:a", "6"]),
            ("a.opus", ["-c:a", "libopus", "-b:a", "\(96 * channels)k", "-mapping_family", "1"]),
        ] {
            let path = try file(folder, name, channels: channels, options)
            #expect(try heard(path, channels) == Array(0..<channels), "\(name)")
        }
        // Opus without a declaration of its channels.
        let options = ["-c:a", "libopus", "-b:a", "\(96 * channels)k", "-mapping_family", "255"]
        #expect(try heard(file(folder, "b.opus", channels: channels, options), channels) == Array(0..<channels))
    }

    /// Returns the output for one channel of a file whose others are silent, or for all.
    private func mixed(_ folder: Folder, only channel: Int?, of count: Int, to output: Int) throws -> [Float] {
        let path = folder.path("a.wav")
        let frames = 3_000  // more than one block
        let sound = AudioBuffer(channelCount: count, frameCapacity: frames)
        for c in 0..<count where channel == nil || channel == c {
            for i in 0..<frames { sound.channels[c][i] = i % 2 == 0 ? 1 : -1 }
        }
        let writer = try AudioFileWriter(path: path, format: AudioFormat(sampleRate: 48_000, channelCount: count))
        try writer.write(sound.channels, frameCount: frames)
        try writer.close()
        let reader = try ConvertedFileReader(
            AudioFileReader(path: path), as: AudioFormat(sampleRate: 48_000, channelCount: output))
        let heard = AudioBuffer(channelCount: output, frameCapacity: frames)
        #expect(try reader.read(into: heard.channels, frameCount: frames) == frames)
        for c in 0..<output {
            let first = heard.channels[c][0]
            #expect((0..<frames).allSatisfy { heard.channels[c][$0] == ($0 % 2 == 0 ? first : -first) })
        }
        return (0..<output).map { heard.channels[$0][0] }
    }

    @Test("Surround channels are downmixed to stereo and mono", arguments: 3...8)
    func downmix(channels: Int) throws {
        let folder = try Folder()
        // Relative to the left: left, right, centre, low frequencies, back or side.
        let h = Float(0.5).squareRoot()
        let pairs: [Int: [[Float]]] = [
            3: [[1, 0], [0, 1], [h, h]],
            4: [[1, 0], [0, 1], [h, 0], [0, h]],
            5: [[1, 0], [0, 1], [h, h], [h, 0], [0, h]],
            6: [[1, 0], [0, 1], [h, h], [0, 0], [h, 0], [0, h]],
            7: [[1, 0], [0, 1], [h, h], [0, 0], [0.5, 0.5], [h, 0], [0, h]],
            8: [[1, 0], [0, 1], [h, h], [0, 0], [h, 0], [0, h], [h, 0], [0, h]],
        ]
        let expected = try #require(pairs[channels])
        let gain = try mixed(folder, only: 0, of: channels, to: 2)[0]
        #expect(gain > 0.25 && gain < 0.6)
        for (c, pair) in expected.enumerated() {
            let two = try mixed(folder, only: c, of: channels, to: 2)
            #expect(abs(two[0] - gain * pair[0]) < 1e-6 && abs(two[1] - gain * pair[1]) < 1e-6, "channel \(c): \(two)")
            let one = try mixed(folder, only: c, of: channels, to: 1)[0]
            #expect(abs(one - (two[0] + two[1]) / 2) < 1e-6)
        }
        // All channels at full scale give full scale and no more.
        for output in 1...2 {
            for value in try mixed(folder, only: nil, of: channels, to: output) { #expect(abs(value - 1) < 1e-6) }
        }
    }

    @Test func `layouts without speaker positions are mixed without reordering`() throws {
        let folder = try Folder()
        #expect(try mixed(folder, only: 8, of: 9, to: 1) == [Float(1) / 9])
        #expect(try mixed(folder, only: 8, of: 9, to: 2) == [0, 0])
        #expect(try mixed(folder, only: 1, of: 2, to: 1) == [0.5])
        #expect(try mixed(folder, only: 2, of: 6, to: 4) == [0, 0, 1, 0])
    }
}
