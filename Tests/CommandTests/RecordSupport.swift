// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioContainers
import EarshotAudioFiles
import Foundation
import TestSupport
import Testing

/// Sound that is played to `earshot record`, and the analysis of the recording.
enum Recorded {
    static let kinds = ["wav", "aiff", "caf", "flac", "ogg", "opus", "mp3", "m4a", "aac"]
    static let rate = 48_000.0

    /// Frames over which a session fades a new route in.
    static let fade = 240

    /// A tone with noise in 16 bits: no two positions in it are alike.
    static func noise(_ frames: Int, channels: Int = 1) -> [[Float]] {
        var random = SeededRandom(seed: 3)
        return (0..<channels).map { _ in
            (0..<frames).map { n in
                let tone = 12_000 * sin(2 * Double.pi * 440 * Double(n) / rate)
                return Float((tone + random.unit() * 1_000 - 500).rounded()) / 32_768
            }
        }
    }

    /// An endless tone: all seconds of it are alike.
    static func tone(_ frames: Int) -> [[Float]] { [(0..<frames).map { sine($0, frequency: 440, rate: rate) }] }

    /// Returns the level of the tone in the middle of a sound, in dB relative to ``noise(_:channels:)``.
    static func toneLevel(_ samples: [Float]) -> Double {
        let (from, length) = (samples.count / 2 - 12_000, 24_000)
        var (x, y) = (0.0, 0.0)
        for n in 0..<length where from >= 0 && from + n < samples.count {
            let angle = 2 * Double.pi * 440 * Double(n) / rate
            x += Double(samples[from + n]) * cos(angle)
            y += Double(samples[from + n]) * sin(angle)
        }
        return decibels(2 * (x * x + y * y).squareRoot() / Double(length) / (12_000.0 / 32_768))
    }

    static func write(_ samples: [[Float]], to path: String) throws {
        let writer = try SoundFiles.create(
            path, format: AudioFormat(sampleRate: rate, channelCount: samples.count),
            settings: SoundFiles.Settings(sampleFormat: .int16))
        let buffer = AudioBuffer(channelCount: samples.count, frameCapacity: samples[0].count)
        for c in samples.indices { for i in samples[c].indices { buffer.channels[c][i] = samples[c][i] } }
        try writer.write(buffer.channels, frameCount: samples[0].count, offset: 0)
        try writer.close()
    }

    static func read(_ path: String) throws -> [[Float]] {
        let reader = try SoundFiles.open(path)
        let capacity = max(1, reader.frameCount + 96_000)
        let buffer = AudioBuffer(channelCount: reader.processingFormat.channelCount, frameCapacity: capacity)
        let count = try reader.read(into: buffer.channels, frameCount: capacity)
        return (0..<buffer.channels.count).map {
            Array(UnsafeBufferPointer(start: buffer.channels[$0], count: count))
        }
    }

    /// Returns the position of a recording's part in the played sound; nil if it is not there.
    static func place(of part: ArraySlice<Float>, in played: [Float], from start: Int = 0) -> Int? {
        guard let first = part.first, played.count >= start + part.count else { return nil }
        for at in start...played.count - part.count where played[at] == first {
            if played[at..<at + part.count] == part { return at }
        }
        return nil
    }

    /// A run of frames in a recording.
    struct Run: Equatable {
        enum Kind: Equatable { case played(at: Int), silence, faded }
        var kind: Kind
        var count: Int
    }

    /// Returns the runs of a recording: played sound, silence, and neither, such as a fade.
    static func runs(of recorded: [Float], in played: [Float]) -> [Run] {
        var runs: [Run] = []
        var at = 0
        func add(_ kind: Run.Kind, _ count: Int) {
            if kind == .faded, runs.last?.kind == .faded {
                runs[runs.count - 1].count += count
            } else {
                runs.append(Run(kind: kind, count: count))
            }
            at += count
        }
        while at < recorded.count {
            let window = recorded[at..<min(at + 32, recorded.count)]
            if window.allSatisfy({ $0 == 0 }) {
                add(.silence, recorded[at...].prefix { $0 == 0 }.count)
            } else if let place = place(of: window, in: played) {
                add(.played(at: place), zip(recorded[at...], played[place...]).prefix { $0 == $1 }.count)
            } else {
                add(.faded, 1)
            }
        }
        return runs
    }

    /// Returns the runs of played sound.
    static func played(_ recorded: [Float], in played: [Float]) -> [(place: Int, count: Int)] {
        runs(of: recorded, in: played).compactMap { run in
            if case .played(let place) = run.kind { (place, run.count) } else { nil }
        }
    }

    /// Starts it on a simulated card that captures a file.
    static func start(
        _ arguments: [String], hears path: String, standardOutput: String? = nil, terminal: PseudoTerminal? = nil
    ) throws -> ChildProcess {
        try Earshot.start(
            ["record", "--device", "simulated", "--speak", path] + arguments,
            // Swift's own report of a signal takes time, and asks for input on a terminal.
            environment: ["SWIFT_BACKTRACE": "enable=no"], standardOutput: standardOutput, terminal: terminal)
    }

    /// Waits until a file has this size.
    static func grows(_ path: String, to bytes: Int) -> Bool {
        for _ in 0..<500 {
            var status = stat()
            if stat(path, &status) == 0, status.st_size >= bytes { return true }
            usleep(20_000)
        }
        return false
    }
}
