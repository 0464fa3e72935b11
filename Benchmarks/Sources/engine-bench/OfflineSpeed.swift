// SPDX-License-Identifier: Apache-2.0

import BenchReports
import BenchScenes
import EarshotAudioBase
import EarshotAudioEngine
import EarshotAudioFiles
import Foundation
import PairedTimes

/// A complete job from a WAV file to a WAV file, compared with sox and its most similar chain: one thread each, the same input
/// file.
enum OfflineSpeed {
    private struct LostFrames: Error {
        var count: Int
    }

    /// Sound of at most five minutes that is read repeatedly.
    private static let piece = 300

    static func figures(minutes: Int) throws -> [Report] {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("earshot-offline-\(getpid())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (input, rendered, output) = (
            folder.appendingPathComponent("in.wav").path, folder.appendingPathComponent("ours.wav").path,
            folder.appendingPathComponent("sox.wav").path
        )
        let seconds = min(piece, minutes * 60)
        let times = max(1, minutes * 60 / seconds)
        // A chord with changing level over pink noise, with peaks for the compressor and the limiter.
        let synth =
            "-n -r 48000 -c 2 -b 16 \(input) synth \(seconds) pinknoise synth \(seconds) sine mix 220 synth \(seconds) "
            + "sine mix 277.2 synth \(seconds) sine mix 329.6 tremolo 0.5 80 gain -n -1"
        guard sox(synth) != nil else {
            print("offline: sox is not there to compare with")
            return []
        }
        let inputs = [String](repeating: input, count: times).joined(separator: " ")
        let chain =
            "equalizer 80 0.7q 2 equalizer 250 1q -3 equalizer 1200 1q 1 equalizer 3000 0.8q 3 equalizer 10000 0.7q 2 "
            + "compand 0.005,0.12 10:-90,-90,-24,-24,0,-16 6 -90 reverb 30 50 60 100 20 "
            + "compand 0.001,0.06 -90,-90,-1,-1,0,-1 0 -90 0.005"
        let command = "-V1 -D --single-threaded \(inputs) -b 16 \(output) \(chain)"
        guard let sox = sox(command) else {
            print("offline: sox failed: sox \(command)")
            return []
        }
        var pairs = [(ours: try render(input, times: times, seconds: seconds, to: rendered), sox: sox)]
        // Several times alternately if it is short.
        while minutes < 10, pairs.count < 5, let sox = Self.sox(command) {
            pairs.append((try render(input, times: times, seconds: seconds, to: rendered), sox))
        }
        let (ours, theirs) = (Cost(median: pairs.map(\.ours)), Cost(median: pairs.map(\.sox)))
        let ratios = pairs.map { $0.sox.processor / $0.ours.processor }
        print("offline: sox -V1 -D --single-threaded IN.wav… -b 16 OUT.wav \(chain)")
        return [
            Report(
                "\(minutes) min of stereo at 48 kHz through equalizer, compressor, reverb and limiter, WAV to WAV of 16 bits, "
                    + "\(pairs.count) in turn: ours \(ours.summary), sox \(theirs.summary); how many times as "
                    + "fast as sox, by the processor's time, the median", PairedTimes.median(ratios),
                least: ratios.max(), "", .atLeast(1), against: "sox \(version)")
        ]
    }

    private static func render(_ input: String, times: Int, seconds: Int, to path: String) throws -> Cost {
        try Cost { try renderAll(input, times: times, seconds: seconds, to: path) }
    }

    private static func renderAll(_ input: String, times: Int, seconds: Int, to path: String) throws {
        let format = AudioFormat(sampleRate: 48_000, channelCount: 2)
        let engine = AudioEngine()
        let player = AudioPlayerNode(format: format)
        let units = try Graphs.masteringUnits()
        try engine.edit { edit throws(AudioEngineError) in
            var last: AudioNode = player
            try edit.attach(player)
            for node in units {
                try edit.attach(node)
                try edit.connect(last, to: node)
                last = node
            }
            try edit.connect(last, to: engine.outputNode)
        }
        for _ in 0..<times { try player.scheduleFile(AudioFileReader(path: input)) }
        player.play()
        try engine.enableManualRendering(format: format, maximumFrameCount: 4_096)
        let writer = try AudioFileWriter(path: path, format: format, sampleFormat: .int16)
        let buffer = AudioBuffer(channelCount: 2, frameCapacity: 4_096)
        var left = times * seconds * 48_000
        while left > 0 {
            let count = min(4_096, left)
            try engine.renderOffline(buffer.channels, frameCount: count)
            try writer.write(buffer.channels, frameCount: count)
            left -= count
        }
        try writer.close()
        guard player.lostFrameCount == 0 else { throw LostFrames(count: player.lostFrameCount) }
    }

    private static func sox(_ arguments: String) -> Cost? {
        try? Cost(running: ["sox"] + arguments.split(separator: " ").map(String.init))
    }

    private static var version: String {
        ((try? Cost.output(["sox", "--version"])) ?? "").split(whereSeparator: \.isWhitespace).last.map(String.init)
            ?? ""
    }
}
