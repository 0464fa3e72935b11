// SPDX-License-Identifier: Apache-2.0

import BenchReports
import EarshotAudioBase
import EarshotAudioContainers
import EarshotAudioFiles
import Foundation

/// A folder for one run, the programs, and recorded songs and speech from the distribution's packages.
struct Workshop {
    /// True to measure more, for longer.
    let isLong: Bool
    /// The length of the converted sound.
    let seconds: Int
    private let program: String
    private let folder: String
    private let python: String

    init(program: String, python: String, isLong: Bool, seconds: Int) throws {
        (self.program, self.python, self.isLong, self.seconds) = (program, python, isLong, seconds)
        folder = "\(NSTemporaryDirectory())/earshot-files-\(getpid())"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    func close() { try? FileManager.default.removeItem(atPath: folder) }

    /// Returns the path of a file of this run.
    func path(_ name: String) -> String { "\(folder)/\(name)" }

    /// Returns the command `earshot` with arguments.
    func earshot(_ arguments: String...) -> [String] { [program] + arguments }

    /// Returns the command `earshot convert` on one core.
    func convert(_ input: String, _ output: String, _ arguments: String...) -> [String] {
        [program, "convert", input, "--output", output, "--overwrite", "--jobs", "1"] + arguments
    }

    /// Returns the output of a Python script of Tests/Quality.
    func judged(by script: String, _ arguments: [String]) throws -> String {
        let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Tests/Quality/\(script)")
        return try Cost.output([python, tests.path] + arguments)
    }

    private static let songs = "/usr/share/games/fretsonfire/data/songs/sectoid"
    private static let speech = "/usr/share/codec2/raw/speech_orig_16k.wav"
    static let missing = "sound to convert: install fretsonfire-songs-sectoid and codec2-examples"

    /// Songs with guitars.
    static var songNames: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: songs)) ?? [])
            .filter { FileManager.default.fileExists(atPath: "\(songs)/\($0)/guitar.ogg") }.sorted()
    }

    /// Writes a WAV of 16 bits: the songs without their first half minute, with speech in between, repeated.
    /// - Returns: its path.
    func music(seconds: Int, format: AudioFormat = AudioFormat(sampleRate: 44_100, channelCount: 2)) throws -> String {
        let path = path("music-\(seconds)-\(Int(format.sampleRate))-\(format.channelCount).wav")
        if FileManager.default.fileExists(atPath: path) { return path }
        guard !Self.songNames.isEmpty else { throw Topics.WrongArgument("no \(Self.missing)") }
        let once = self.path("once-\(Int(format.sampleRate))-\(format.channelCount).wav")
        if FileManager.default.fileExists(atPath: once) {
            return try repeated(once, to: path, frames: seconds * Int(format.sampleRate), format: format)
        }
        let writer = try AudioFileWriter(path: path, format: format, type: .rf64, sampleFormat: .int16)
        var left = seconds * Int(format.sampleRate)
        try write(Self.songNames, to: writer, left: &left, format: format)
        if left > 0 {
            // All songs are included once.
            try writer.close()
            try FileManager.default.moveItem(atPath: path, toPath: once)
            return try repeated(once, to: path, frames: seconds * Int(format.sampleRate), format: format)
        }
        try writer.close()
        return path
    }

    private func write(
        _ songs: [String], to writer: AudioFileWriter, left: inout Int, format: AudioFormat
    ) throws {
        let (one, other) = (
            AudioBuffer(channelCount: format.channelCount, frameCapacity: 4_096),
            AudioBuffer(channelCount: format.channelCount, frameCapacity: 4_096)
        )
        for song in songs where left > 0 {
            let band = try ConvertedFileReader(SoundFiles.open("\(Self.songs)/\(song)/song.ogg"), as: format)
            let guitar = try ConvertedFileReader(SoundFiles.open("\(Self.songs)/\(song)/guitar.ogg"), as: format)
            try band.seek(to: 30 * Int(format.sampleRate))
            try guitar.seek(to: 30 * Int(format.sampleRate))
            while left > 0 {
                let count = try band.read(into: one.channels, frameCount: min(left, 4_096))
                let more = try guitar.read(into: other.channels, frameCount: count)
                if count == 0 { break }
                for c in 0..<format.channelCount {
                    scaleSamples(one.channels[c], one.channels[c], count, gain: 0.7)
                    addSamples(one.channels[c], other.channels[c], more, gain: 0.7)
                }
                try writer.write(one.channels, frameCount: count)
                left -= count
            }
            let voice = try ConvertedFileReader(SoundFiles.open(Self.speech), as: format)
            while left > 0 {
                let count = try voice.read(into: one.channels, frameCount: min(left, 4_096))
                if count == 0 { break }
                try writer.write(one.channels, frameCount: count)
                left -= count
            }
        }
    }

    private func repeated(_ once: String, to path: String, frames: Int, format: AudioFormat) throws -> String {
        let writer = try AudioFileWriter(path: path, format: format, type: .rf64, sampleFormat: .int16)
        let reader = try AudioFileReader(path: once)
        let block = AudioBuffer(channelCount: format.channelCount, frameCapacity: 32_768)
        var left = frames
        while left > 0 {
            let count = try reader.read(into: block.channels, frameCount: min(left, block.frameCapacity), offset: 0)
            if count == 0 { try reader.seek(to: 0) }
            try writer.write(block.channels, frameCount: count)
            left -= count
        }
        try writer.close()
        return path
    }

    /// Returns the samples of a whole file.
    func samples(_ path: String, from first: Int = 0, count: Int? = nil) throws -> [[Float]] {
        let reader = try SoundFiles.open(path)
        let wanted = count ?? reader.frameCount
        let channelCount = reader.processingFormat.channelCount
        let buffer = AudioBuffer(channelCount: channelCount, frameCapacity: max(1, wanted))
        try reader.seek(to: first)
        let got = try reader.read(into: buffer.channels, frameCount: wanted, offset: 0)
        return (0..<channelCount).map { Array(UnsafeBufferPointer(start: buffer.channels[$0], count: got)) }
    }
}
