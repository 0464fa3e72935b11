// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioFiles
import Foundation
import TestSupport
import Testing

/// After a seek the frames are the same as those of a reader that began at the start.
@Suite struct SeekTests {
    private static let frames = 30_000
    private static let targets = [0, 1, 147, 1_000, 12_345, 29_999, 30_000, 60_000]

    private func file(_ folder: Folder, _ name: String, rate: Double, frames: Int = frames) throws -> String {
        let path = folder.path(name)
        let writer = try makeWriter(path, AudioFormat(sampleRate: rate, channelCount: 2))
        let buffer = AudioBuffer(channelCount: 2, frameCapacity: frames)
        for i in 0..<frames {
            let t = Double(i) / rate
            buffer.channels[0][i] = 0.4 * Float(sin(2 * .pi * (200 + 300 * t) * t))
            buffer.channels[1][i] = 0.4 * Float(cos(2 * .pi * 333 * t))
        }
        try writer.write(buffer.channels, frameCount: frames, offset: 0)
        try writer.close()
        return path
    }

    @Test(arguments: [44_100.0, 48_000, 16_000, 96_000])
    func `a converted file seeks to exact frames`(_ rate: Double) throws {
        let folder = try Folder()
        let path = try file(folder, "a.wav", rate: rate)
        let format = AudioFormat(sampleRate: 48_000, channelCount: 2)
        let whole = try ConvertedFileReader(AudioFileReader(path: path), as: format)
        let all = AudioBuffer(channelCount: 2, frameCapacity: whole.frameCount + 1_000)
        let total = try whole.read(into: all.channels, frameCount: all.frameCapacity)
        let reader = try ConvertedFileReader(AudioFileReader(path: path), as: format)
        let part = AudioBuffer(channelCount: 2, frameCapacity: 500)
        for target in Self.targets.reversed() + Self.targets {
            try reader.seek(to: target)
            let got = try reader.read(into: part.channels, frameCount: 500)
            #expect(got == max(0, min(500, total - target)), "\(target)")
            var worst: Float = 0
            for c in 0..<2 {
                for i in 0..<got { worst = max(worst, abs(part.channels[c][i] - all.channels[c][target + i])) }
            }
            #expect(worst < 1e-6, "\(rate) Hz, frame \(target): off by \(worst)")
        }
    }

    @Test(arguments: writableKinds)
    func `every format seeks to exact frames`(_ kind: String) throws {
        let folder = try Folder()
        let path = try file(folder, "a." + kind, rate: 48_000, frames: 300_000)
        let frames = 300_000
        let whole = try AudioFileReader(path: path)
        #expect(whole.frameCount == frames)
        let all = AudioBuffer(channelCount: 2, frameCapacity: frames)
        #expect(try whole.read(into: all.channels, frameCount: frames) == frames)
        let reader = try AudioFileReader(path: path)
        let part = AudioBuffer(channelCount: 2, frameCapacity: 500)
        var random = SeededRandom(seed: 9)
        let targets =
            Self.targets + [299_999, 300_000] + (0..<30).map { _ in Int.random(in: 0..<frames, using: &random) }
        for target in targets.reversed() + targets {
            try reader.seek(to: target)
            #expect(reader.framePosition == min(target, frames))
            let got = try reader.read(into: part.channels, frameCount: 500)
            #expect(got == max(0, min(500, frames - target)), "\(target)")
            var worst: Float = 0
            for i in 0..<got { worst = max(worst, abs(part.channels[0][i] - all.channels[0][target + i])) }
            #expect(worst < 1e-4, "\(kind), frame \(target): off by \(worst)")
        }
    }
}
