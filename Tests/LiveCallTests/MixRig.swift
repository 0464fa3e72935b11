// SPDX-License-Identifier: Apache-2.0

import CEarshotEBUR128
import EarshotAudioBase
import EarshotAudioContainers
import EarshotAudioFiles
import Foundation
import TestSupport
import Testing

@testable import EarshotLiveCall

/// The folder of a recording with known voices, which is deleted with the test.
final class MixRig {
    static let rate = 48_000.0
    let folder: String
    var manifest = RecordingManifest(
        earshot: "0.1.0", room: "Blue Room", started: "2026-11-28T14:05:12.310Z", zero: 0, sampleRate: 48_000,
        channelCount: 1, recordedBy: "Ann")

    init() throws {
        folder = "\(NSTemporaryDirectory())earshot-mix-\(getpid())-\(UInt32.random(in: 0 ... .max))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    func path(_ name: String) -> String { "\(folder)/\(name)" }

    /// Writes a voice of exact samples, and adds it to the description.
    func add(
        _ name: String, _ sound: [[Float]], volumes: [RecordingManifest.Volume] = [.init(frame: 0, gain: 1)],
        rate: Double = MixRig.rate
    ) throws {
        try Self.write(sound, to: path("\(name).wav"), rate: rate)
        manifest.tracks.append(
            .init(
                file: "\(name).wav", parts: 1, name: name, names: [name], isLocal: manifest.tracks.isEmpty,
                kind: .voice,
                frameCount: sound[0].count, gaps: [], volumes: volumes))
    }

    static func write(_ sound: [[Float]], to path: String, rate: Double = MixRig.rate) throws {
        let writer = try SoundFiles.create(
            path, type: .rf64, format: AudioFormat(sampleRate: rate, channelCount: sound.count))
        let block = AudioBuffer(channelCount: sound.count, frameCapacity: sound[0].count)
        for (c, samples) in sound.enumerated() { for (n, x) in samples.enumerated() { block.channels[c][n] = x } }
        try writer.write(block.channels, frameCount: sound[0].count)
        try writer.close()
    }

    /// Writes the description and reads the folder.
    func source() throws -> MixSource {
        try JSONEncoder().encode(manifest).write(to: URL(fileURLWithPath: path("recording.json")))
        return try MixSource(folder: folder)
    }

    /// Mixes to a file and reads it.
    func mix(
        _ preset: String = "dry", loudness: Double? = nil, type: AudioFileType = .rf64,
        change: (inout MixSettings) -> Void = { _ in }
    ) throws -> (result: MixFile.Result, sound: [[Float]]) {
        let source = try source()
        var settings = MixSettings(for: source)
        settings.preset = try #require(MixPreset.named(preset))
        settings.loudness = loudness
        change(&settings)
        let output = path("mix-test.\(type.fileExtension)")
        let result = try MixFile(source, settings, encoding: SoundFiles.Settings()).write(to: output, type: type)
        return (result, try Self.read(output))
    }

    static func read(_ path: String) throws -> [[Float]] {
        let reader = try SoundFiles.open(path)
        let block = AudioBuffer(channelCount: reader.processingFormat.channelCount, frameCapacity: 4_096)
        var all = [[Float]](repeating: [], count: block.channels.count)
        while true {
            let count = try reader.read(into: block.channels, frameCount: block.frameCapacity)
            for c in all.indices { all[c] += UnsafeBufferPointer(start: block.channels[c], count: count) }
            if count < block.frameCapacity { return all }
        }
    }

    static func tone(_ frequency: Double, _ count: Int, amplitude: Double = 0.2) -> [Float] {
        (0..<count).map { sine($0, frequency: frequency, rate: rate, amplitude: amplitude) }
    }

    /// Returns sound as varied as singing: notes with breaks and consonants, its peaks well above its loudness.
    static func singing(_ base: Double, _ seconds: Double, seed: UInt32) -> [Float] {
        var state = seed
        return (0..<Int(seconds * rate)).map { n in
            state = state &* 1_664_525 &+ 1_013_904_223
            let t = Double(n) / rate
            let note = base * (1 + 0.25 * (t * 2).rounded(.down).truncatingRemainder(dividingBy: 3))
            let phase = (t * 2).truncatingRemainder(dividingBy: 1)
            let level = phase < 0.8 ? min(1, phase * 30) : 0
            let noise = phase < 0.03 ? Double(Int32(bitPattern: state)) / 2_147_483_648 * 0.6 : 0
            return Float(0.15 * level * (sin(2 * .pi * note * t) + 0.5 * sin(4 * .pi * note * t)) + noise)
        }
    }

    /// Returns the loudness in LUFS and the true peak in dBTP by libebur128.
    static func measure(_ sound: [[Float]]) throws -> (loudness: Double, truePeak: Double) {
        let modes = Int32(EBUR128_MODE_I.rawValue | EBUR128_MODE_TRUE_PEAK.rawValue)
        var state = ebur128_init(UInt32(sound.count), UInt(rate), modes)
        defer { ebur128_destroy(&state) }
        let interleaved = sound[0].indices.flatMap { n in sound.map { $0[n] } }
        try #require(ebur128_add_frames_float(state, interleaved, sound[0].count) == 0)
        var loudness = 0.0
        ebur128_loudness_global(state, &loudness)
        var peaks = 0.0
        for c in sound.indices {
            var peak = 0.0
            ebur128_true_peak(state, UInt32(c), &peak)
            peaks = max(peaks, peak)
        }
        return (loudness, decibels(peaks))
    }
}
