// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioFiles
import Glibc

@testable import EarshotAudioContainers

/// A file without a name, which each input overwrites.
private let fuzzedFile: CInt = {
    var name = Array("/tmp/earshot-fuzz-XXXXXX".utf8CString)
    let file = mkstemp(&name)
    unlink(name)
    return file
}()

/// Fuzzes a file of any bytes as M4A or ADTS.
func fuzzContainer(_ input: UnsafeRawBufferPointer) -> CInt {
    fill(input)
    guard let reader = try? ContainerFileReader(path: path) else { return 0 }
    precondition(reader.primingFrames >= 0 && reader.remainderFrames >= 0)
    return use(reader)
}

/// Fuzzes a file of any bytes as any kind; an error must be a line that names the file.
func fuzzFile(_ input: UnsafeRawBufferPointer) -> CInt {
    var bytes = Array(input)
    mendPages(&bytes)
    bytes.withUnsafeBytes { fill($0) }
    do throws(AudioFileError) {
        _ = try? SoundFiles.info(path)
        return use(try SoundFiles.open(path))
    } catch {
        precondition(error.description.hasPrefix(path) && !error.description.contains("\n"))
        return 0
    }
}

private let path = "/proc/self/fd/\(fuzzedFile)"

private func fill(_ input: UnsafeRawBufferPointer) {
    precondition(ftruncate(fuzzedFile, 0) == 0 && pwrite(fuzzedFile, input.baseAddress, input.count, 0) == input.count)
}

/// Reads and seeks a file; the samples must be finite and within bounds.
private func use(_ reader: any SoundFileReader) -> CInt {
    precondition(reader.frameCount >= 0)
    let block = AudioBuffer(channelCount: reader.processingFormat.channelCount, frameCapacity: 3_000)
    for target in [0, reader.frameCount / 2, reader.frameCount] {
        try? reader.seek(to: target)
        for _ in 0..<3 {
            let got = (try? reader.read(into: block.channels, frameCount: 3_000)) ?? 0
            precondition((0...3_000).contains(got) && reader.framePosition <= reader.frameCount)
            for c in 0..<block.channels.count { for i in 0..<got { precondition(block.channels[c][i].isFinite) } }
        }
    }
    return 0
}

/// Returns a short M4A, closed, not closed and with an invalid comment, and ADTS.
func containers() -> [[UInt8]] {
    let sound = AudioBuffer(channelCount: 1, frameCapacity: 24_000)
    for i in 0..<24_000 { sound.channels[0][i] = Float(i % 96) / 200 - 0.24 }
    var files: [[UInt8]] = []
    for container in AACFileWriter.Container.allCases {
        let path = "/tmp/earshot-fuzz-\(getpid())"
        defer { unlink(path) }
        guard
            let writer = try? AACFileWriter(
                path: path, format: AudioFormat(sampleRate: 32_000, channelCount: 1), container: container,
                bitRate: 16_000)
        else { continue }
        try? writer.write(sound.channels, frameCount: 24_000)
        files.append(content(path))
        try? writer.close()
        files.append(content(path))
        guard container == .m4a else { continue }
        var tags = AudioFileTags()
        tags["iTunSMPB"] = " 00000000 -840 0 10"  // Apple's comment on gaps: the sound begins before the first packet
        try? tags.write(to: path)
        files.append(content(path))
    }
    return files
}

/// Returns a short file of each other kind.
func soundFiles() -> [[UInt8]] {
    let sound = AudioBuffer(channelCount: 1, frameCapacity: 3_000)
    for i in 0..<3_000 { sound.channels[0][i] = Float(i % 96) / 200 - 0.24 }
    let format = AudioFormat(sampleRate: 8_000, channelCount: 1)
    return [AudioFileType.wav, .rf64, .aiff, .caf, .flac, .vorbis, .opus, .mp3].map { type in
        let path = "/tmp/earshot-fuzz-\(getpid())"
        defer { unlink(path) }
        let settings = SoundFiles.Settings(sampleFormat: .int16)
        guard let writer = try? SoundFiles.create(path, type: type, format: format, settings: settings) else {
            return []
        }
        try? writer.write(sound.channels, frameCount: 3_000, offset: 0)
        try? writer.close()
        return content(path)
    }
}

private func content(_ path: String) -> [UInt8] {
    guard let file = fopen(path, "r") else { return [] }
    defer { fclose(file) }
    var bytes = [UInt8](repeating: 0, count: 1 << 16)
    let count = fread(&bytes, 1, bytes.count, file)
    return Array(bytes.prefix(count))
}
