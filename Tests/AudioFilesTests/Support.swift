// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
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
        url = Self.place.appendingPathComponent("earshot-files-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    func path(_ name: String) -> String { url.appendingPathComponent(name).path }
}

/// Sines with a different frequency in each channel.
func tone(frames: Int, channels: Int = 1, rate: Double = 48_000, hertz: Double = 997, gain: Double = 0.5) -> AudioBuffer
{
    let buffer = AudioBuffer(channelCount: channels, frameCapacity: max(1, frames))
    for c in 0..<channels {
        for i in 0..<frames {
            buffer.channels[c][i] = Float(gain * sin(2 * .pi * hertz * Double(c + 1) * Double(i) / rate))
        }
    }
    return buffer
}

func samples(_ buffer: AudioBuffer, _ channel: Int = 0, _ range: Range<Int>) -> [Float] {
    range.map { buffer.channels[channel][$0] }
}

/// Returns the energy of the difference relative to the reference, in dB; −200 if there is no difference.
func errorDecibels(_ a: [Float], _ reference: [Float]) -> Double {
    guard a.count == reference.count else { return .infinity }
    var error = 0.0
    var energy = 0.0
    for i in 0..<a.count {
        error += pow(Double(a[i]) - Double(reference[i]), 2)
        energy += pow(Double(reference[i]), 2)
    }
    return error == 0 ? -200 : 10 * log10(error / max(energy, 1e-30))
}

/// Returns a whole file, one array per channel.
func contents(_ path: String) throws -> [[Float]] {
    let reader = try AudioFileReader(path: path)
    let buffer = AudioBuffer(
        channelCount: reader.processingFormat.channelCount, frameCapacity: max(1, reader.frameCount + 10))
    let frames = try reader.read(into: buffer.channels, frameCount: reader.frameCount + 10)
    return (0..<reader.processingFormat.channelCount).map { samples(buffer, $0, 0..<frames) }
}

/// Runs a program. Returns its exit status and its output.
@discardableResult
func run(_ arguments: String...) throws -> (status: Int32, output: String) {
    let child = try ChildProcess.run(arguments)
    return (child.status, child.output + child.errors)
}

/// Creates a file of the kind of its extension.
func makeWriter(
    _ path: String, _ format: AudioFormat, sampleFormat: AudioFileWriter.SampleFormat = .float32,
    bitRate: MP3Encoder.BitRate? = nil
) throws(AudioFileError) -> any SoundFileWriter {
    AudioFileType(fileName: path) == .mp3
        ? try MP3FileWriter(path: path, format: format, bitRate: bitRate ?? .variable(2))
        : try AudioFileWriter(path: path, format: format, sampleFormat: sampleFormat, bitRate: bitRate)
}
