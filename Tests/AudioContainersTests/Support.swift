// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioContainers
import EarshotAudioFiles
import Foundation
import TestSupport

/// A temporary folder for one test, deleted with the object.
final class Folder {
    let url: URL

    /// In memory where possible, since a disk slows these tests down.
    static var place: URL {
        let memory = "/dev/shm"
        return FileManager.default.isWritableFile(atPath: memory)
            ? URL(filePath: memory) : FileManager.default.temporaryDirectory
    }

    init() throws {
        url = Self.place.appendingPathComponent("earshot-containers-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    func path(_ name: String) -> String { url.appendingPathComponent(name).path }

    /// A file of these bytes.
    func file(_ name: String, _ bytes: [UInt8]) throws -> String {
        try Data(bytes).write(to: URL(fileURLWithPath: path(name)))
        return path(name)
    }
}

func bytes(_ path: String) throws -> [UInt8] { [UInt8](try Data(contentsOf: URL(fileURLWithPath: path))) }

/// Runs a program. Returns its exit status and its output.
@discardableResult
func run(_ arguments: String...) throws -> (status: Int32, output: String) {
    let child = try ChildProcess.run(arguments)
    return (child.status, child.output + child.errors)
}

/// A signal between music and noise, different in each channel, always the same.
func sound(frames: Int, channels: Int = 2, rate: Double = 48_000, noise: Float = 0.05) -> AudioBuffer {
    let buffer = AudioBuffer(channelCount: channels, frameCapacity: max(1, frames))
    var state: UInt32 = 12_345
    for c in 0..<channels {
        for i in 0..<frames {
            let t = Double(i) / rate
            state = state &* 1_664_525 &+ 1_013_904_223
            let tone = 0.3 * sin(2 * .pi * (300 + 200 * Double(c)) * t) + 0.2 * sin(2 * .pi * (200 + 60 * t) * t)
            buffer.channels[c][i] = Float(tone) + noise * (Float(state >> 8) * 0x1p-23 - 1)
        }
    }
    return buffer
}

func samples(_ buffer: AudioBuffer, _ channel: Int = 0, _ range: Range<Int>) -> [Float] {
    range.map { buffer.channels[channel][$0] }
}

/// Returns the rest of a reader's frames, one array per channel.
func contents(_ reader: any SoundFileReader) throws -> [[Float]] {
    let count = reader.processingFormat.channelCount
    let block = AudioBuffer(channelCount: count, frameCapacity: 5_000)
    var heard = [[Float]](repeating: [], count: count)
    while true {
        let got = try reader.read(into: block.channels, frameCount: 5_000)
        for c in 0..<count { heard[c] += UnsafeBufferPointer(start: block.channels[c], count: got) }
        if got < 5_000 { return heard }
    }
}

func contents(_ path: String) throws -> [[Float]] { try contents(ContainerFileReader(path: path)) }

/// Returns the file as ffmpeg decodes it, one array per channel.
func decodedByFFmpeg(_ path: String, in folder: Folder) throws -> (heard: [[Float]], complaints: String) {
    let wav = folder.path("\(UUID().uuidString).wav")
    let run = try run("ffmpeg", "-nostdin", "-v", "error", "-i", path, "-c:a", "pcm_f32le", wav)
    return (run.status == 0 ? try contents(AudioFileReader(path: wav)) : [], run.output)
}

/// A file of `sound`, encoded by ffmpeg.
func ffmpegFile(
    _ folder: Folder, _ name: String, _ sound: AudioBuffer, frames: Int, rate: Double, _ options: [String]
) throws -> String {
    let wav = folder.path("\(UUID().uuidString).wav")
    let writer = try AudioFileWriter(
        path: wav, format: AudioFormat(sampleRate: rate, channelCount: sound.channels.count))
    try writer.write(sound.channels, frameCount: frames)
    try writer.close()
    let path = folder.path(name)
    let encoder = try ChildProcess.run(["ffmpeg", "-nostdin", "-v", "error", "-y", "-i", wav] + options + [path])
    guard encoder.status == 0 else { throw CocoaError(.fileWriteUnknown) }
    return path
}

/// Returns the ratio of signal to error in dB over `range`.
func signalToError(_ heard: [Float], _ said: AudioBuffer, _ channel: Int, _ range: Range<Int>) -> Double {
    guard heard.count >= range.upperBound else { return -.infinity }
    var (signal, error) = (0.0, 1e-20)
    for i in range {
        let (h, s) = (Double(heard[i]), Double(said.channels[channel][i]))
        signal += s * s
        error += (h - s) * (h - s)
    }
    return 10 * log10(signal / error)
}

/// Writes `frames` of `sound` in blocks of odd sizes.
func write(_ sound: AudioBuffer, frames: Int, to writer: any SoundFileWriter) throws {
    var at = 0
    for block in [1, 63, 1_024, 480, 5_000, frames] {
        let count = min(block, frames - at)
        try writer.write(sound.channels, frameCount: count, offset: at)
        at += count
    }
    try writer.close()
}

/// A disk of a few kilobytes, mounted for one test; nil without permission.
final class SmallDisk {
    let path: String

    init?(kilobytes: Int) {
        path = FileManager.default.temporaryDirectory.appendingPathComponent("disk-\(UUID().uuidString)").path
        try? FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        guard mount("none", path, "tmpfs", 0, "size=\(kilobytes)k") == 0 else {
            rmdir(path)
            return nil
        }
    }

    deinit {
        umount2(path, Int32(2))  // MNT_DETACH
        rmdir(path)
    }
}
