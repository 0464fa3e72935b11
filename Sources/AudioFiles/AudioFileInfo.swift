// SPDX-License-Identifier: Apache-2.0

import CEarshotSndfile
import CEarshotTagLib
import EarshotAudioBase

/// The properties of a sound file, found without decoding it.
public struct AudioFileInfo: Hashable, Sendable {
    /// The file's path.
    public var path: String
    /// The file type; nil for a format that is only read.
    public var type: AudioFileType?
    /// The container's display name: `WAV`, `Ogg` …
    public var container: String
    /// The codec's display name: `24-bit`, `Opus` …
    public var codec: String
    /// The sample rate and channels with which the file is read.
    public var format: AudioFormat
    /// The number of frames, at the sample rate of ``format``.
    public var frameCount: Int
    /// The bits of a sample; nil for a codec without a fixed sample size, such as MP3.
    public var bitDepth: Int?
    /// The average bits a second of the whole file.
    public var bitRate: Int
    /// The file's size in bytes.
    public var byteCount: Int
    /// The frames that the encoder added before the sound and that a player skips; nil if the file does not say.
    package var primingFrames: Int?
    /// The frames that the encoder added after the sound; nil if the file does not say.
    package var remainderFrames: Int?
    /// The time at which a broadcast WAV begins, in frames since midnight; nil for other files.
    public var timeReference: Int?
    /// The text fields and pictures.
    public var tags: AudioFileTags

    /// The duration in seconds.
    public var duration: Double { Double(frameCount) / format.sampleRate }

    /// Creates the properties of a file that another layer reads.
    package init(
        path: String, type: AudioFileType?, container: String, codec: String, format: AudioFormat, frameCount: Int,
        bitDepth: Int?, byteCount: Int, tags: AudioFileTags
    ) {
        self.path = path
        self.type = type
        self.container = container
        self.codec = codec
        self.format = format
        self.frameCount = frameCount
        self.bitDepth = bitDepth
        self.byteCount = byteCount
        self.tags = tags
        let seconds = Double(frameCount) / format.sampleRate
        // A forged header may declare one frame for a file of any size; the limit prevents an overflow.
        bitRate = seconds > 0 ? Int(min(Double(byteCount) * 8 / seconds, 0x1p62)) : 0
    }

    /// Reads the properties of a file that ``AudioFileReader`` reads. Unreadable tags are left out.
    /// - Throws: as ``AudioFileReader/init(path:)``.
    public init(path: String) throws(AudioFileError) {
        let file = try ReadableFile(path)
        let sound = try AudioFileReader(path: path)
        let type = AudioFileType(file)
        let names = LibraryFormatNames(sound.libraryFormat)
        self.init(
            path: path, type: type, container: type.map { Self.container($0) } ?? names.container, codec: names.codec,
            format: sound.processingFormat, frameCount: sound.frameCount, bitDepth: names.bitDepth,
            byteCount: file.byteCount, tags: (try? TaggedFile(file).tags) ?? AudioFileTags())
        switch type {
        case .mp3:
            let bytes = StreamBuffer(file.bytes(at: ID3Prefix.length(file), count: 2_048))
            if let frame = FrameHeader(bytes, at: 0), let header = VBRHeader(bytes, frame), let delay = header.delay {
                (primingFrames, remainderFrames) = (delay, header.padding)
            }
        case .opus:
            let bytes = StreamBuffer(file.bytes(at: 0, count: 512))
            if case .page(let page) = OggPage.find(bytes),
                let codec = OggCodec(first: bytes.copy(page.headerLength..<page.length))
            {
                // The pre-skip is counted at 48 kHz, whatever the rate at which the file is read.
                primingFrames = Int(Double(codec.preSkip) * format.sampleRate / 48_000)
            }
        case .wav, .rf64:
            timeReference = sound.broadcastInfo?.timeReference
            if timeReference != nil { container = "Broadcast \(container)" }
        default: break
        }
    }

    private static func container(_ type: AudioFileType) -> String {
        switch type {
        case .vorbis, .opus: "Ogg"
        case .mp3: "MPEG audio"
        default: type.description
        }
    }
}

/// The display names of a libsndfile format code.
private struct LibraryFormatNames {
    var container = "sound file"
    var codec = "unknown"
    var bitDepth: Int?

    init(_ format: CInt) {
        container = Self.name(format & CInt(SF_FORMAT_TYPEMASK)) ?? container
        let sub = format & CInt(SF_FORMAT_SUBMASK)
        let bits: [CInt: (Int, String)] = [
            CInt(SF_FORMAT_PCM_S8): (8, "8-bit"), CInt(SF_FORMAT_PCM_U8): (8, "8-bit unsigned"),
            CInt(SF_FORMAT_PCM_16): (16, "16-bit"), CInt(SF_FORMAT_PCM_24): (24, "24-bit"),
            CInt(SF_FORMAT_PCM_32): (32, "32-bit"), CInt(SF_FORMAT_FLOAT): (32, "32-bit float"),
            CInt(SF_FORMAT_DOUBLE): (64, "64-bit float"), CInt(SF_FORMAT_ALAC_16): (16, "Apple Lossless, 16-bit"),
            CInt(SF_FORMAT_ALAC_20): (20, "Apple Lossless, 20-bit"),
            CInt(SF_FORMAT_ALAC_24): (24, "Apple Lossless, 24-bit"),
            CInt(SF_FORMAT_ALAC_32): (32, "Apple Lossless, 32-bit"),
        ]
        let others: [CInt: String] = [
            CInt(SF_FORMAT_VORBIS): "Vorbis", CInt(SF_FORMAT_OPUS): "Opus", CInt(SF_FORMAT_MPEG_LAYER_I): "MP1",
            CInt(SF_FORMAT_MPEG_LAYER_II): "MP2", CInt(SF_FORMAT_MPEG_LAYER_III): "MP3",
        ]
        if let (depth, name) = bits[sub] {
            bitDepth = depth
            codec = format & CInt(SF_FORMAT_TYPEMASK) == CInt(SF_FORMAT_FLAC) ? "FLAC, \(name)" : name
        } else {
            codec = others[sub] ?? Self.name(sub) ?? codec
        }
    }

    private static func name(_ code: CInt) -> String? {
        var info = SF_FORMAT_INFO()
        info.format = code
        guard sf_command(nil, CInt(SFC_GET_FORMAT_INFO), &info, CInt(MemoryLayout<SF_FORMAT_INFO>.size)) == 0,
            let name = info.name
        else { return nil }
        return String(cString: name)
    }
}
