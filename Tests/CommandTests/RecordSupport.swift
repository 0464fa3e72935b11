import AudioBase
import AudioContainers
import AudioFiles
import Foundation
import TestSupport
import Testing

/// Sound that is played to `earshot record`, and what it makes of it.
enum Recorded {
    static let kinds = ["wav", "aiff", "caf", "flac", "ogg", "opus", "mp3", "m4a", "aac"]
    static let rate = 48_000.0

    /// Noise in 16 bits: any place of it is like no other.
    static func noise(_ frames: Int, channels: Int = 1) -> [[Float]] {
        var random = SeededRandom(seed: 3)
        return (0..<channels).map { _ in
            (0..<frames).map { _ in Float((random.unit() * 16_384 - 8_192).rounded()) / 32_768 }
        }
    }

    /// A tone that goes on without end: any second of it is like every other.
    static func tone(_ frames: Int) -> [[Float]] { [(0..<frames).map { sine($0, frequency: 440, rate: rate) }] }

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

    /// Where in what was played a recording's part is found; nil where nowhere.
    static func place(of part: ArraySlice<Float>, in played: [Float], from start: Int = 0) -> Int? {
        guard let first = part.first, played.count >= start + part.count else { return nil }
        for at in start...played.count - part.count where played[at] == first {
            if played[at..<at + part.count] == part { return at }
        }
        return nil
    }

    /// What a recording consists of: runs of what was played, by place and length, with silence as nil places.
    static func runs(of recorded: [Float], in played: [Float]) -> [(place: Int?, count: Int)] {
        var runs: [(place: Int?, count: Int)] = []
        var at = 0
        while at < recorded.count {
            let start = at
            let window = min(32, recorded.count - at)
            if recorded[at..<at + window].allSatisfy({ $0 == 0 }) {
                while at < recorded.count, recorded[at] == 0 { at += 1 }
                runs.append((nil, at - start))
                continue
            }
            guard let place = place(of: recorded[at..<at + window], in: played) else {
                runs.append((-1, recorded.count - at))
                return runs
            }
            while at < recorded.count, place + at - start < played.count, recorded[at] == played[place + at - start] {
                at += 1
            }
            runs.append((place, at - start))
        }
        return runs
    }

    /// On a simulated card that hears a file.
    static func start(
        _ arguments: [String], hears path: String, standardOutput: String? = nil, terminal: PseudoTerminal? = nil
    ) throws -> ChildProcess {
        try Earshot.start(
            ["record", "--device", "simulated", "--speak", path] + arguments, standardOutput: standardOutput,
            terminal: terminal)
    }

    /// Waits for a file to be so long.
    static func grows(_ path: String, to bytes: Int) -> Bool {
        for _ in 0..<500 {
            var status = stat()
            if stat(path, &status) == 0, status.st_size >= bytes { return true }
            usleep(20_000)
        }
        return false
    }
}
