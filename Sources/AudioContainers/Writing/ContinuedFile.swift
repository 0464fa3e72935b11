import AudioBase
import AudioFiles

/// Goes on with a file of a kind without loss.
final class ContinuedFile: SoundFileWriter {
    private let path: String
    private let writer: any SoundFileWriter
    /// Where the writer believes its file to be.
    private let copyPath: String
    private let tags: AudioFileTags
    private var isOpen = true

    init(path: String) throws(AudioFileError) {
        self.path = path
        let info = try SoundFiles.info(path)
        let kinds: [AudioFileType: AudioFileType] = [.wav: .rf64, .rf64: .rf64, .aiff: .aiff, .caf: .caf, .flac: .flac]
        guard let type = info.type.flatMap({ kinds[$0] }), let sampleFormat = Self.sampleFormat(info) else {
            let kind = [info.type?.description ?? info.container, info.codec].joined(separator: ", ")
            throw .unsupportedFormat(
                path: path,
                detail: "\(kind) cannot be gone on with as it is; WAV, AIFF, CAF and FLAC of 16 or 24 bits can")
        }
        tags = info.tags
        let copy = try FileCopy(try ReadableFile(path), isFilled: false)
        copyPath = copy.path
        do {
            writer = try SoundFiles.create(
                copy.path, type: type, format: info.format, settings: SoundFiles.Settings(sampleFormat: sampleFormat))
            try Self.take(path, into: writer)
            try copy.replaceOriginal()
        } catch { throw error.named(path, insteadOf: copy.path) }
    }

    deinit { try? close() }

    private static func sampleFormat(_ info: AudioFileInfo) -> AudioFileWriter.SampleFormat? {
        switch info.codec {
        case "16-bit", "FLAC, 16-bit": .int16
        case "24-bit", "FLAC, 24-bit": .int24
        case "32-bit float": .float32
        default: nil
        }
    }

    private static func take(_ path: String, into writer: any SoundFileWriter) throws(AudioFileError) {
        let reader = try SoundFiles.open(path)
        let block = AudioBuffer(channelCount: reader.processingFormat.channelCount, frameCapacity: 16_384)
        while true {
            let count = try reader.read(into: block.channels, frameCount: block.frameCapacity)
            if count == 0 { return }
            try writer.write(block.channels, frameCount: count, offset: 0)
        }
    }

    var format: AudioFormat { writer.format }
    /// Those that were there among them.
    var frameCount: Int { writer.frameCount }

    func write(_ channels: Channels, frameCount: Int, offset: Int) throws(AudioFileError) {
        try naming { () throws(AudioFileError) in
            try writer.write(channels, frameCount: frameCount, offset: offset)
        }
    }

    func writeSilence(frameCount: Int) throws(AudioFileError) {
        try naming { () throws(AudioFileError) in try writer.writeSilence(frameCount: frameCount) }
    }

    func close() throws(AudioFileError) {
        guard isOpen else { return }
        isOpen = false
        try naming { () throws(AudioFileError) in try writer.close() }
        if !tags.isEmpty { try tags.write(to: path) }
    }

    private func naming(_ work: () throws(AudioFileError) -> Void) throws(AudioFileError) {
        do { try work() } catch { throw error.named(path, insteadOf: copyPath) }
    }
}
