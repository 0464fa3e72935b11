// SPDX-License-Identifier: Apache-2.0

import CEarshotSndfile
import EarshotAudioBase
import Glibc

extension AudioFileType {
    /// Returns the type of a path's extension, ``rf64`` if it is unknown.
    static func named(_ path: String) -> AudioFileType { AudioFileType(fileName: path) ?? .rf64 }
}

/// libsndfile's parameters for a new file, checked before the file is touched.
struct SndfilePlan {
    let path: String
    let type: AudioFileType
    /// The sample rate in hertz.
    let sampleRate: Double
    let channelCount: Int
    let memory: SampleType
    /// The maximum number of frames in the file, by the 32-bit sizes of WAV and AIFF.
    let maximumFrameCount: Int
    /// The broadcast extension of a WAV or RF64 file.
    var broadcastInfo: BroadcastInfo?
    /// The loudspeakers of the channels, of WAV, RF64, AIFF and CAF; nil for the usual ones.
    var channelMap: ChannelMap?
    /// The quality of Vorbis, 0 to 1.
    private(set) var vorbisQuality: Float = 0
    private let code: CInt
    private let compression: Double?
    private let originalSampleRate: CInt
    let stored: AudioFileWriter.SampleFormat

    /// Returns true if the type's header has a length, which must be updated.
    static func hasLength(_ type: AudioFileType) -> Bool { [.wav, .rf64, .aiff, .caf].contains(type) }

    init(
        path: String, format: AudioFormat, type: AudioFileType, sampleFormat: AudioFileWriter.SampleFormat,
        bitRate: MP3Encoder.BitRate?, compressionLevel: Int, isStream: Bool = false
    ) throws(AudioFileError) {
        self.path = path
        self.type = type
        channelCount = format.channelCount
        sampleRate = Self.sampleRate(type, format.sampleRate)
        originalSampleRate = CInt(format.sampleRate.rounded())
        let channels =
            switch type {
            case .vorbis, .opus: 2  // with more channels Ogg has another channel order
            case .flac: 8
            default: AudioFormat.channelCounts.upperBound
            }
        guard channelCount <= channels else {
            throw .unsupportedFormat(path: path, detail: "\(channelCount) channels; \(type) supports 1 to \(channels)")
        }
        stored = type == .flac && sampleFormat == .float32 ? .int24 : sampleFormat
        memory = type == .vorbis || type == .opus ? .float32 : stored.memory
        switch type {
        case .wav, .rf64, .aiff, .caf:
            let container =
                switch type {
                case .wav: SF_FORMAT_WAV
                case .rf64: SF_FORMAT_RF64
                case .aiff: SF_FORMAT_AIFF
                default: SF_FORMAT_CAF
                }
            code = CInt(container) | stored.code
            compression = nil
        case .flac:
            guard (0...8).contains(compressionLevel) else {
                throw .unsupportedFormat(
                    path: path, detail: "compression level \(compressionLevel); FLAC supports 0 to 8")
            }
            code = CInt(SF_FORMAT_FLAC) | stored.code
            compression = Double(compressionLevel) / 8
        case .opus:
            code = CInt(SF_FORMAT_OGG) | CInt(SF_FORMAT_OPUS)
            compression = try Self.opus(path, bitRate, channelCount)
        case .vorbis:
            code = 0
            compression = nil
            vorbisQuality = try Self.vorbis(path, bitRate)
        case .mp3, .m4a, .adts:
            throw .unsupportedFormat(path: path, detail: "\(type) is not written by this writer")
        }
        let frameBytes = stored.byteCount * channelCount
        maximumFrameCount =
            (type == .wav && !isStream) || type == .aiff ? (Int(UInt32.max) - 4096) / frameBytes : Int.max
    }

    private static func sampleRate(_ type: AudioFileType, _ rate: Double) -> Double {
        let rates: [Double]
        switch type {
        case .opus: rates = [8_000, 12_000, 16_000, 24_000, 48_000]
        case .vorbis where rate > 192_000: rates = []
        default: return rate
        }
        if let next = rates.first(where: { $0 >= rate }) { return next }
        return type == .vorbis && rate.truncatingRemainder(dividingBy: 44_100) == 0 ? 44_100 : 48_000
    }

    /// Returns libsndfile's compression level for Opus: 0 is 256 kb/s a channel, 1 is 6 kb/s.
    private static func opus(
        _ path: String, _ bitRate: MP3Encoder.BitRate?, _ channels: Int
    ) throws(AudioFileError) -> Double {
        switch bitRate ?? .constant(channels == 1 ? 64 : 96) {
        case .constant(let kilobits) where (6 * channels...256 * channels).contains(kilobits):
            return 1 - (Double(kilobits * 1000 / channels) - 6_000) / 250_000
        case .constant(let kilobits):
            throw .unsupportedFormat(
                path: path,
                detail: "\(kilobits) kb/s; Opus supports \(6 * channels) to \(256 * channels) for \(channels) channels")
        case .variable:
            throw .unsupportedFormat(path: path, detail: "a quality; Opus supports a bit rate, in kb/s")
        }
    }

    /// Returns libvorbis's quality, a tenth of the quality in Vorbis's tools.
    private static func vorbis(_ path: String, _ bitRate: MP3Encoder.BitRate?) throws(AudioFileError) -> Float {
        switch bitRate ?? .variable(5) {
        case .variable(let quality) where (0...9).contains(quality): return 1 - Float(quality) / 10
        case .variable(let quality):
            throw .unsupportedFormat(path: path, detail: "V\(quality); Vorbis supports V0 to V9")
        case .constant(let kilobits) where (64...500).contains(kilobits):
            // The bit rates of Vorbis's qualities for 44.1 kHz stereo, from the encoder's own table.
            let steps = [64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 500]
            let above = max(1, steps.firstIndex { $0 >= kilobits } ?? 10)
            let part = Float(kilobits - steps[above - 1]) / Float(steps[above] - steps[above - 1])
            return (Float(above - 1) + part) / 10
        case .constant(let kilobits):
            throw .unsupportedFormat(path: path, detail: "\(kilobits) kb/s; Vorbis supports 64 to 500")
        }
    }

    /// Opens a libsndfile handle on the descriptor of an empty file, and writes the header. libsndfile writes the header of an
    /// Ogg file only with the first frames.
    func open(_ descriptor: CInt) throws(AudioFileError) -> OpaquePointer {
        try open { Libsndfile.open(descriptor, CInt(SFM_WRITE), &$0) }
    }

    /// Opens a libsndfile handle on a stream, and writes the header. libsndfile writes the header of an Ogg stream only with the
    /// first frames.
    func open(_ stream: SndfileStream) throws(AudioFileError) -> OpaquePointer {
        guard Self.streams.contains(type) else {
            throw .unsupportedFormat(
                path: path,
                detail: "\(type) needs a file, because its length is at the beginning; for a pipe use WAV or FLAC")
        }
        let file = try open { stream.open(&$0) }
        if let error = stream.error {
            sf_close(file)
            throw error
        }
        return file
    }

    private static let streams: [AudioFileType] = [.wav, .flac, .opus]

    private func open(_ make: (inout SF_INFO) -> OpaquePointer?) throws(AudioFileError) -> OpaquePointer {
        var info = SF_INFO()
        info.samplerate = CInt(sampleRate.rounded())
        info.channels = CInt(channelCount)
        info.format = code
        errno = 0
        guard let file = make(&info) else {
            let code = errno
            throw code == 0
                ? .unsupportedFormat(path: path, detail: AudioFileError.reason(nil)) : .from(errno: code, path: path)
        }
        sf_command(file, CInt(SFC_SET_ADD_PEAK_CHUNK), nil, CInt(SF_FALSE))  // the chunk holds the time of day
        if var compression {
            sf_command(file, CInt(SFC_SET_COMPRESSION_LEVEL), &compression, CInt(MemoryLayout<Double>.size))
        }
        if type == .opus {
            var original = originalSampleRate
            sf_command(file, CInt(SFC_SET_ORIGINAL_SAMPLERATE), &original, CInt(MemoryLayout<CInt>.size))
            var latency = 200.0  // milliseconds that a page waits to be filled
            sf_command(file, CInt(SFC_SET_OGG_PAGE_LATENCY), &latency, CInt(MemoryLayout<Double>.size))
        }
        if type == .wav || type == .rf64 {
            broadcastInfo?.write(to: file)
            (channelMap ?? ChannelMap(usualFor: channelCount))?.write(to: file)
        } else if type == .aiff || type == .caf {
            channelMap?.write(to: file)
        }
        if type == .rf64 { sf_command(file, CInt(SFC_RF64_AUTO_DOWNGRADE), nil, CInt(SF_TRUE)) }
        guard Self.hasLength(type) || type == .flac else { return file }
        errno = 0
        sf_command(file, CInt(SFC_UPDATE_HEADER_NOW), nil, 0)
        guard errno == 0 else {
            let code = errno
            sf_close(file)
            throw .from(errno: code, path: path)
        }
        if Self.hasLength(type) {  // the first header was longer, with a peak chunk
            var frames: sf_count_t = 0
            sf_command(file, CInt(SFC_FILE_TRUNCATE), &frames, CInt(MemoryLayout<sf_count_t>.size))
        }
        return file
    }
}

enum Libsndfile {
    /// Opens a file by a copy of the descriptor: libsndfile closes the copy when it fails, even if told not to.
    static func open(_ descriptor: CInt, _ mode: CInt, _ info: inout SF_INFO) -> OpaquePointer? {
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        return copy < 0 ? nil : sf_open_fd(copy, mode, &info, CInt(SF_TRUE))
    }
}
