import AudioBase
import AudioFiles

/// Sound files of any kind, opened and created in one call.
public enum SoundFiles {
    /// How a new file keeps its sound. What does not concern its kind is passed over.
    public struct Settings: Hashable, Sendable {
        /// Of a kind without loss; FLAC takes 24 bits for ``AudioFileWriter/SampleFormat/float32``.
        public var sampleFormat: AudioFileWriter.SampleFormat
        /// Of a kind with loss; nil is what suits the kind: V2 for MP3, 64 kb/s a channel for AAC. AAC has no quality of its own,
        /// only bits a second.
        public var bitRate: MP3Encoder.BitRate?
        /// Of FLAC: 0 is quick, 8 small.
        public var compressionLevel: Int

        /// What suits most.
        public init(
            sampleFormat: AudioFileWriter.SampleFormat = .float32, bitRate: MP3Encoder.BitRate? = nil,
            compressionLevel: Int = 5
        ) {
            self.sampleFormat = sampleFormat
            self.bitRate = bitRate
            self.compressionLevel = compressionLevel
        }
    }

    /// Opens a file for reading, by its content; its name says nothing.
    /// - Throws: what opening can: missing, not permitted, a folder, not a plain file, not audio, an unsupported format.
    public static func open(_ path: String) throws(AudioFileError) -> any SoundFileReader {
        let file = try ReadableFile(path)
        return [.m4a, .adts].contains(AudioFileType(file)) ? try ContainerFileReader(file) : try AudioFileReader(file)
    }

    /// What a file is. Tags that cannot be read are none.
    /// - Throws: as ``open(_:)``.
    public static func info(_ path: String) throws(AudioFileError) -> AudioFileInfo {
        guard let reader = try open(path) as? ContainerFileReader else { return try AudioFileInfo(path: path) }
        let type = try AudioFileType(contentsOf: path)
        var info = AudioFileInfo(
            path: path, type: type, container: type?.description ?? "MPEG-4", codec: reader.codec,
            format: reader.processingFormat, frameCount: reader.frameCount, bitDepth: reader.bitDepth,
            byteCount: try ReadableFile(path).byteCount, tags: (try? AudioFileTags(path: path)) ?? AudioFileTags())
        if type != .adts, reader.bitDepth == nil {
            (info.primingFrames, info.remainderFrames) = (reader.primingFrames, reader.remainderFrames)
        }
        return info
    }

    /// Creates or empties a file.
    /// - Parameters:
    ///   - type: nil is the kind that the path's ending asks for, and RF64, which is WAV up to 4 GiB, where it asks for none.
    ///   - format: what will be written; a rate that the kind has not is converted.
    /// - Throws: ``AudioFileError/unsupportedFormat(path:detail:)``, missing folder, not permitted, a folder, not a plain file,
    ///   disk full.
    public static func create(
        _ path: String, type: AudioFileType? = nil, format: AudioFormat, settings: Settings = Settings()
    ) throws(AudioFileError) -> any SoundFileWriter {
        let type = type ?? AudioFileType(fileName: path) ?? .rf64
        switch type {
        case .m4a, .adts:
            var bitRate: Int?
            switch settings.bitRate {
            case nil: break
            case .constant(let kilobits): bitRate = kilobits * 1_000
            case .variable(let quality):
                throw .unsupportedFormat(path: path, detail: "V\(quality) is none of AAC's; it takes bits a second")
            }
            return try AACFileWriter(
                path: path, format: format, container: type == .m4a ? .m4a : .adts, bitRate: bitRate)
        case .mp3: return try MP3FileWriter(path: path, format: format, bitRate: settings.bitRate ?? .variable(2))
        default:
            return try AudioFileWriter(
                path: path, format: format, type: type, sampleFormat: settings.sampleFormat, bitRate: settings.bitRate,
                compressionLevel: settings.compressionLevel)
        }
    }
}
