// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioCodecs
import EarshotAudioFiles

/// Opens and creates sound files of any kind.
public enum SoundFiles {
    /// The settings of a new file. Settings that do not apply to its kind are ignored.
    public struct Settings: Hashable, Sendable {
        /// The sample format of a lossless file; FLAC takes 24 bits for ``AudioFileWriter/SampleFormat/float32``.
        public var sampleFormat: AudioFileWriter.SampleFormat
        /// The bit rate of a lossy file; nil for the default: V2 for MP3, 64 kb/s per channel for AAC. For AAC only bit rates are
        /// supported, no quality levels.
        public var bitRate: MP3Encoder.BitRate?
        /// The compression of FLAC: 0 for the fastest, 8 for the smallest.
        public var compressionLevel: Int
        /// The search of AAC's encoder.
        package var aacSearch = AACEncoder.Search.twoLoop
        /// The broadcast extension of a WAV or RF64 file.
        package var broadcastInfo: BroadcastInfo?
        /// The loudspeakers of the channels of a WAV, RF64, AIFF or CAF file; nil for the usual ones.
        package var channelMap: ChannelMap?

        /// Creates settings; each has a default.
        public init(
            sampleFormat: AudioFileWriter.SampleFormat = .float32, bitRate: MP3Encoder.BitRate? = nil,
            compressionLevel: Int = 5
        ) {
            self.sampleFormat = sampleFormat
            self.bitRate = bitRate
            self.compressionLevel = compressionLevel
        }

        /// Returns true if a file of a type has integer samples, which clip beyond full scale.
        package func hasIntegerSamples(_ type: AudioFileType) -> Bool {
            type == .flac || [.wav, .rf64, .aiff, .caf].contains(type) && sampleFormat != .float32
        }
    }

    /// The extensions by which sound files in a folder are found, in lower case.
    package static let fileExtensions: Set<String> = [
        "wav", "wave", "rf64", "bwf", "aif", "aiff", "aifc", "caf", "flac", "ogg", "oga", "opus", "mp3", "mp2", "m4a",
        "m4b", "mp4", "aac", "adts", "au", "snd", "w64", "mka", "mkv", "webm", "wma", "ac3", "eac3",
    ]

    /// Opens a file for reading. Its content gives the kind, its name is ignored.
    /// - Throws: the errors of opening: missing, not permitted, a folder, not a plain file, not audio, an unsupported format.
    public static func open(_ path: String) throws(AudioFileError) -> any SoundFileReader { try openDetailed(path) }

    /// Opens a file as ``open(_:)`` does.
    static func openDetailed(_ path: String) throws(AudioFileError) -> any DetailedSoundFileReader {
        let file = try ReadableFile(path)
        switch AudioFileType(file) {
        case .m4a, .adts: return try ContainerFileReader(file)
        case nil:
            if let format = DemuxedFormat(file) { return try DemuxedFileReader(file, format) }
            return try AudioFileReader(file)
        default: return try AudioFileReader(file)
        }
    }

    /// Returns the properties of a file. If the tags cannot be read, it has none.
    /// - Throws: the errors of ``open(_:)``.
    public static func info(_ path: String) throws(AudioFileError) -> AudioFileInfo {
        let reader = try open(path)
        if let reader = reader as? DemuxedFileReader {
            return AudioFileInfo(
                path: path, type: nil, container: reader.container, codec: reader.codec,
                format: reader.processingFormat,
                frameCount: reader.frameCount, bitDepth: reader.bitDepth, byteCount: try ReadableFile(path).byteCount,
                tags: reader.readTags())
        }
        guard let reader = reader as? ContainerFileReader else { return try AudioFileInfo(path: path) }
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

    /// Creates a file; an existing file is truncated.
    /// - Parameters:
    ///   - type: nil for the type of the path's extension; without an extension RF64, which is WAV up to 4 GiB.
    ///   - format: the format of the frames to be written. If the kind does not support the sample rate, it is converted.
    /// - Throws: ``AudioFileError/unsupportedFormat(path:detail:)``, missing folder, not permitted, a folder, not a plain file,
    ///   disk full.
    public static func create(
        _ path: String, type: AudioFileType? = nil, format: AudioFormat, settings: Settings = Settings()
    ) throws(AudioFileError) -> any SoundFileWriter {
        let type = type ?? AudioFileType(fileName: path) ?? .rf64
        switch type {
        case .m4a, .adts:
            return try AACFileWriter(
                path: path, format: format, container: type == .m4a ? .m4a : .adts,
                bitRate: try bitsPerSecond(settings, path), search: settings.aacSearch)
        case .mp3: return try MP3FileWriter(path: path, format: format, bitRate: settings.bitRate ?? .variable(2))
        default:
            return try AudioFileWriter(
                path: path, format: format, type: type, sampleFormat: settings.sampleFormat, bitRate: settings.bitRate,
                compressionLevel: settings.compressionLevel, broadcastInfo: settings.broadcastInfo,
                channelMap: settings.channelMap)
        }
    }

    /// Throws the error that ``create(_:type:format:settings:)`` would throw. Does not change an existing file.
    public static func check(
        _ path: String, type: AudioFileType? = nil, format: AudioFormat, settings: Settings = Settings()
    ) throws(AudioFileError) {
        let nowhere = "/dev/null"
        do {
            let type = type ?? AudioFileType(fileName: path) ?? .rf64
            try create(nowhere, type: type, format: format, settings: settings).close()
        } catch { throw error.named(path, insteadOf: nowhere) }
        try OutputPath.check(path)
    }

    /// Begins a sound file in a stream without seeking, such as a pipe: WAV of unknown length, FLAC, Vorbis, Opus, MP3 without
    /// LAME's header (with a constant bit rate by default), ADTS, or M4A in fragments.
    ///
    /// Writing waits for a busy reader for five seconds at most. The process should ignore SIGPIPE, so that a closed pipe is an
    /// error.
    /// - Parameters:
    ///   - descriptor: is duplicated and stays open.
    ///   - name: the stream's name in errors, such as `standard output`.
    ///   - type: AIFF and CAF are not supported, since they need a file.
    /// - Throws: ``AudioFileError/unsupportedFormat(path:detail:)``, ``AudioFileError/notRead(path:)``, disk full, system.
    public static func create(
        stream descriptor: Int32, name: String, type: AudioFileType, format: AudioFormat,
        settings: Settings = Settings()
    ) throws(AudioFileError) -> any SoundFileWriter {
        let output = try NonSeekableOutput(descriptor, name: name)
        switch type {
        case .m4a, .adts:
            return try AACFileWriter(
                output, format: format, container: type == .m4a ? .m4a : .adts,
                bitRate: try bitsPerSecond(settings, name), search: settings.aacSearch)
        case .mp3:
            return try MP3FileWriter(
                output, format: format, bitRate: settings.bitRate ?? .constant(Self.constantBitRate(format)))
        default:
            return try AudioFileWriter(
                output, format: format, type: type, sampleFormat: settings.sampleFormat, bitRate: settings.bitRate,
                compressionLevel: settings.compressionLevel)
        }
    }

    /// Returns the constant bit rate in kb/s for an MP3 without a header, whose length players compute from its first frame.
    private static func constantBitRate(_ format: AudioFormat) -> Int {
        if format.sampleRate <= 12_000 { return 64 }
        return format.channelCount == 1 ? 96 : format.sampleRate <= 24_000 ? 160 : 192
    }

    private static func bitsPerSecond(_ settings: Settings, _ path: String) throws(AudioFileError) -> Int? {
        switch settings.bitRate {
        case nil: return nil
        case .constant(let kilobits): return kilobits * 1_000
        case .variable(let quality):
            throw .unsupportedFormat(path: path, detail: "AAC has no V\(quality); use a bit rate")
        }
    }

    /// Appends to an existing file, with its sample rate, channels and bit depth.
    ///
    /// The sound is first copied exactly to a new file, which then replaces the old one, so a complete file exists at any time.
    /// Tags are kept and written when the file is closed; a WAV's marks and other additions are lost. Until then the tags are
    /// stored in a file of silence beside it, `.NAME.earshot-tags.flac`, where they stay after a kill or if the disk is too full
    /// for them.
    /// - Throws: the errors of opening and creating; ``AudioFileError/unsupportedFormat(path:detail:)`` for a lossy kind, which
    ///   would have to be encoded twice.
    public static func append(to path: String) throws(AudioFileError) -> any SoundFileWriter {
        try AppendingFileWriter(path: path)
    }
}
