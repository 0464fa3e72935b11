// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioFiles
import Foundation
import TestSupport

/// Sound for `earshot play`, and the program's reports about it.
enum Played {
    /// Writes a file with these samples in one channel or both.
    static func write(_ path: String, _ samples: [Float], rate: Double = 48_000, channels: Int = 2) throws {
        let writer = try AudioFileWriter(path: path, format: AudioFormat(sampleRate: rate, channelCount: channels))
        let buffer = AudioBuffer(channelCount: channels, frameCapacity: max(1, samples.count))
        for c in 0..<channels { for (i, sample) in samples.enumerated() { buffer.channels[c][i] = sample } }
        try writer.write(buffer.channels, frameCount: samples.count)
        try writer.close()
    }

    /// A sample that encodes its frame's number exactly.
    static func numbered(_ frame: Int) -> Float { Float(frame + 1) * 0x1p-23 }

    static func tone(_ seconds: Double, _ frequency: Double = 1_000) -> [Float] {
        (0..<Int(seconds * 48_000)).map { sine($0, frequency: frequency, rate: 48_000, amplitude: 0.25) }
    }

    static func samples(_ path: String) throws -> [Float] {
        let reader = try AudioFileReader(path: path)
        let buffer = AudioBuffer(
            channelCount: reader.processingFormat.channelCount, frameCapacity: max(1, reader.frameCount))
        let count = try reader.read(into: buffer.channels, frameCount: reader.frameCount)
        return (0..<count).map { buffer.channels[0][$0] }
    }

    struct Items: Decodable {
        struct Item: Decodable {
            struct Title: Decodable { var title: String }
            var name: String
            var kind: String
            var plays: Int
            var seconds: Double
            var lostFrames: Int
            var stalls: Int
            var titles: [Title]
            var error: String?
        }
        var items: [Item]
        var failures: [String]
        var effects: [String]
        var ended: String
        var seconds: Double
        var seed: UInt64?
    }

    static func report(_ program: ChildProcess) throws -> Items {
        try JSONDecoder().decode(Items.self, from: Data(program.output.utf8))
    }
}
