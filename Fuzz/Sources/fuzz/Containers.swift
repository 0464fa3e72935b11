import AudioBase
import AudioContainers
import AudioFiles
import Glibc

/// A file without a name, which each input fills anew.
private let fuzzedFile: CInt = {
    var name = Array("/tmp/earshot-fuzz-XXXXXX".utf8CString)
    let file = mkstemp(&name)
    unlink(name)
    return file
}()

/// A file of any bytes is opened, read and sought; what comes is in bounds and finite.
func fuzzContainer(_ input: UnsafeRawBufferPointer) -> CInt {
    precondition(ftruncate(fuzzedFile, 0) == 0 && pwrite(fuzzedFile, input.baseAddress, input.count, 0) == input.count)
    guard let reader = try? ContainerFileReader(path: "/proc/self/fd/\(fuzzedFile)") else { return 0 }
    precondition(reader.frameCount >= 0 && reader.primingFrames >= 0 && reader.remainderFrames >= 0)
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

/// A short M4A, closed and not closed, and ADTS.
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
    }
    return files
}

private func content(_ path: String) -> [UInt8] {
    guard let file = fopen(path, "r") else { return [] }
    defer { fclose(file) }
    var bytes = [UInt8](repeating: 0, count: 1 << 16)
    let count = fread(&bytes, 1, bytes.count, file)
    return Array(bytes.prefix(count))
}
