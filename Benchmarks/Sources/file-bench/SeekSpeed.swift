// SPDX-License-Identifier: Apache-2.0

import BenchReports
import Foundation
import PairedTimes

@testable import EarshotAudioBase
@testable import EarshotAudioContainers
@testable import EarshotAudioFiles
@testable import TestSupport

/// Seeks in MP3 and M4A files of an hour, and their accuracy: the sound after each is located in the original.
enum SeekSpeed {
    private static let count = 200

    static func figures(_ workshop: Workshop) throws -> [Report] {
        // An hour that is fast to encode, or a typical one.
        let format =
            workshop.isLong
            ? AudioFormat(sampleRate: 44_100, channelCount: 2) : AudioFormat(sampleRate: 8_000, channelCount: 1)
        let music = try workshop.music(seconds: 3_600, format: format)
        let original = try AudioFileReader(path: music)
        return try ["mp3", "m4a"].flatMap { kind in
            let path = workshop.path("hour.\(kind)")
            try Cost.finish([try Cost.start(workshop.convert(music, path))])
            return try figures(path, original, "an hour's \(kind.uppercased()), \(summary(format))")
        }
    }

    private static func summary(_ format: AudioFormat) -> String {
        "\(decimal(format.sampleRate / 1_000)) kHz \(format.channelCount == 1 ? "mono" : "stereo")"
    }

    private static func figures(_ path: String, _ original: AudioFileReader, _ name: String) throws -> [Report] {
        var opened: (any SoundFileReader)?
        let opening = PairedTimes.median(
            try (0..<5).map { _ in try Cost { opened = try SoundFiles.open(path) }.wall })
        guard let reader = opened else { return [] }
        let format = reader.processingFormat
        let (length, reach) = (4_096, Int(0.05 * format.sampleRate))
        let block = AudioBuffer(channelCount: format.channelCount, frameCapacity: length)
        var (walls, processors, errors): ([Double], [Double], [Double]) = ([], [], [])
        var random = SeededRandom(seed: 5)
        for _ in 0..<count {
            let target = reach + Int(random.unit() * Double(original.frameCount - length - 2 * reach))
            let before = threadSeconds
            let cost = try Cost {
                try reader.seek(to: target)
                _ = try reader.read(into: block.channels, frameCount: 512, offset: 0)
            }
            processors.append(threadSeconds - before)
            walls.append(cost.wall)
            _ = try reader.read(into: block.channels, frameCount: length - 512, offset: 512)
            let got = Array(UnsafeBufferPointer(start: block.channels[0], count: length))
            if let lag = try lag(of: got, in: original, at: target, reach: reach) {
                errors.append(abs(Double(lag)) / format.sampleRate * 1_000)
            }
        }
        let against = "the time limit of the issue; the least is the thread's own processor time"
        return [
            Report("\(name): opening it, the median", opening * 1_000, "ms", against: "the file in memory already"),
            Report(
                "\(name): \(count) seeks anywhere with the first 512 frames read, median "
                    + "\(decimal(PairedTimes.median(walls) * 1_000, 2)) ms, the worst", (walls.max() ?? 0) * 1_000,
                least: (processors.max() ?? 0) * 1_000, "ms", .atMost(50), against: against),
            Report(
                "\(name): where \(errors.count) of them land, the worst", errors.max() ?? .infinity, "ms off",
                .atMost(10), against: "the original's sound"),
        ]
    }

    private static var threadSeconds: Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }

    /// Returns the delay of the sound relative to the original in frames; nil if nothing there is similar (silence, and what a
    /// codec leaves of it).
    private static func lag(
        of sound: [Float], in original: AudioFileReader, at target: Int, reach: Int
    ) throws -> Int? {
        let count = sound.count + 2 * reach
        let buffer = AudioBuffer(channelCount: original.processingFormat.channelCount, frameCapacity: count)
        try original.seek(to: target - reach)
        guard try original.read(into: buffer.channels, frameCount: count, offset: 0) == count else { return nil }
        let from = buffer.channels[0]
        let own = sound.reduce(0) { $0 + Double($1) * Double($1) }
        var best = (similarity: 0.0, lag: 0)
        for lag in 0...2 * reach {
            var (product, energy) = (Float(0), Float(0))
            for i in 0..<sound.count {
                product += sound[i] * from[lag + i]
                energy += from[lag + i] * from[lag + i]
            }
            let similarity = Double(product) / (own * Double(energy)).squareRoot()
            if similarity > best.similarity { best = (similarity, lag - reach) }
        }
        return best.similarity > 0.9 ? best.lag : nil
    }
}
