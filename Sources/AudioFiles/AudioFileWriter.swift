// SPDX-License-Identifier: Apache-2.0

import CEarshotSndfile
import EarshotAudioBase
import Glibc

/// Writes a sound file by libsndfile (WAV, RF64, AIFF, CAF, FLAC, Ogg Opus) or libvorbis (Ogg Vorbis).
///
/// If the process is killed, the file plays. A WAV, RF64, AIFF or CAF file has all completed writes, a FLAC file all complete
/// blocks (0.1 s at 48 kHz), and of Opus and Vorbis at most some 0.3 s are lost. (Nothing is synced to the disk: a power cut may
/// lose what the system has cached.) A closed file gives back exactly the frames written.
///
/// Rates that Opus or Vorbis lack are converted to a higher one, or to 48 or 44.1 kHz. A new file has mode 0600, since it may be
/// a recording of people. An existing file is truncated and keeps its mode. For one thread at a time; writes block on the disk,
/// so never use it on a render thread.
public final class AudioFileWriter {
    /// The file's path.
    public let path: String
    /// The file's type.
    public let type: AudioFileType
    /// The format of the frames to write. Most types store the rate as whole hertz.
    public let format: AudioFormat
    /// The file's sample rate in hertz.
    public let fileSampleRate: Double
    /// The frames written, at the rate of ``format``.
    public private(set) var frameCount = 0

    private var file: OpaquePointer?
    private let fileDescriptor: CInt  // -1 for a stream
    private let stream: SndfileStream?
    private let vorbis: VorbisFile?  // for Ogg Vorbis; then `file` and `stream` are nil
    private let header: WAVHeaderPatch?
    private let sampleType: SampleType
    private let maximumFrameCount: Int
    private var converter: WriteConverter?  // nil where the rates are equal
    private var flac: FLACLength?
    private var dither: Dither?  // nil unless the samples have 16 bits
    private var interleaved: [UInt32]
    private let silence: AudioBuffer
    private var framesSinceHeader = 0
    private static let blockFrames = 4096

    /// Creates or truncates a file and writes its header.
    /// - Parameters:
    ///   - type: nil for the type of the path's extension, or ``AudioFileType/rf64`` if that is unknown.
    ///   - sampleFormat: the stored samples, except in Vorbis and Opus.
    ///   - bitRate: for Vorbis or Opus only. Opus takes a constant rate of 6 to 256 kb/s a channel and keeps it on average; the
    ///     default is 96 kb/s for stereo. Vorbis takes V0 to V9 or an approximate rate; the default is V5.
    ///   - compressionLevel: for FLAC only, from 0 (fast) to 8 (small).
    /// - Throws: ``AudioFileError``: unsupported format, missing folder, not permitted, a folder, not a plain file, disk full.
    public convenience init(
        path: String, format: AudioFormat, type: AudioFileType? = nil, sampleFormat: SampleFormat = .float32,
        bitRate: MP3Encoder.BitRate? = nil, compressionLevel: Int = 5
    ) throws(AudioFileError) {
        try self.init(
            path: path, format: format, type: type, sampleFormat: sampleFormat, bitRate: bitRate,
            compressionLevel: compressionLevel, broadcastInfo: nil, channelMap: nil)
    }

    /// - Parameters:
    ///   - broadcastInfo: for WAV and RF64 only.
    ///   - channelMap: for WAV, RF64, AIFF and CAF only.
    package convenience init(
        path: String, format: AudioFormat, type: AudioFileType?, sampleFormat: SampleFormat,
        bitRate: MP3Encoder.BitRate?,
        compressionLevel: Int, broadcastInfo: BroadcastInfo?, channelMap: ChannelMap?
    ) throws(AudioFileError) {
        var plan = try SndfilePlan(
            path: path, format: format, type: type ?? .named(path), sampleFormat: sampleFormat, bitRate: bitRate,
            compressionLevel: compressionLevel)
        plan.broadcastInfo = broadcastInfo
        plan.channelMap = channelMap
        if plan.type == .vorbis {
            try self.init(plan, format, vorbis: VorbisFile(plan))
            return
        }
        let descriptor = try OutputPath.open(path)
        let file: OpaquePointer
        do {
            file = try plan.open(descriptor)
        } catch {
            Glibc.close(descriptor)
            throw error
        }
        self.init(plan, format, file, descriptor)
    }

    /// Starts a stream: WAV of unknown length, FLAC, Vorbis or Opus. The output is not seekable, so the header of a WAV or FLAC
    /// has no length.
    /// - Throws: ``AudioFileError/unsupportedFormat(path:detail:)``, ``AudioFileError/notRead(path:)``, system.
    package convenience init(
        _ output: NonSeekableOutput, format: AudioFormat, type: AudioFileType, sampleFormat: SampleFormat = .float32,
        bitRate: MP3Encoder.BitRate? = nil, compressionLevel: Int = 5
    ) throws(AudioFileError) {
        let plan = try SndfilePlan(
            path: output.name, format: format, type: type == .rf64 ? .wav : type, sampleFormat: sampleFormat,
            bitRate: bitRate, compressionLevel: compressionLevel, isStream: true)
        if plan.type == .vorbis {
            try self.init(plan, format, vorbis: VorbisFile(plan, output))
            return
        }
        let stream = SndfileStream(output, type: plan.type)
        self.init(plan, format, try plan.open(stream), stream: stream)
    }

    private init(
        _ plan: SndfilePlan, _ format: AudioFormat, _ file: OpaquePointer? = nil, _ descriptor: CInt = -1,
        stream: SndfileStream? = nil, vorbis: VorbisFile? = nil
    ) {
        path = plan.path
        self.format = format
        self.file = file
        fileDescriptor = descriptor
        self.stream = stream
        self.vorbis = vorbis
        header = descriptor >= 0 ? WAVHeaderPatch(plan) : nil
        type = plan.type
        fileSampleRate = plan.sampleRate
        sampleType = plan.memory
        maximumFrameCount = plan.maximumFrameCount
        converter = fileSampleRate == format.sampleRate ? nil : WriteConverter(from: format, to: fileSampleRate)
        flac = plan.type == .flac && stream == nil ? FLACLength() : nil
        dither =
            sampleType == .int16 ? Dither(channelCount: format.channelCount, frameCapacity: Self.blockFrames) : nil
        interleaved = [UInt32](repeating: 0, count: Self.blockFrames * format.channelCount)
        silence = AudioBuffer(channelCount: format.channelCount, frameCapacity: Self.blockFrames)
        header?.apply(fileDescriptor)
    }

    deinit { try? close() }

    /// Appends frames.
    /// - Parameters:
    ///   - channels: at least as many channels as ``format`` has; further channels are ignored.
    ///   - offset: the index in `channels` of the first frame to write.
    /// - Throws: disk full, too long, closed, system. The file is then closed, with all complete frames that reached the disk and
    ///   a valid header.
    public func write(_ channels: Channels, frameCount: Int, offset: Int = 0) throws(AudioFileError) {
        precondition(channels.count >= format.channelCount && frameCount >= 0)
        try append(channels, frameCount, offset)
        try putHeader()
    }

    /// Appends `frameCount` frames of silence. Throws as ``write(_:frameCount:offset:)`` does.
    public func writeSilence(frameCount: Int) throws(AudioFileError) {
        precondition(frameCount >= 0)
        var done = 0
        while done < frameCount {
            let frames = min(frameCount - done, Self.blockFrames)
            try append(silence.channels, frames, 0)
            done += frames
        }
        try putHeader()
    }

    private func append(_ channels: Channels, _ frames: Int, _ offset: Int) throws(AudioFileError) {
        guard converter != nil else { return try put(channels, frames, offset) }
        guard isOpen else { throw .closed(path: path) }
        var done = 0
        while done < frames, let (consumed, produced) = converter?.convert(channels, frames - done, offset + done) {
            done += consumed
            if let converted = converter?.output { try put(converted, produced, 0) }
        }
        frameCount += frames
    }

    private var isOpen: Bool { file != nil || vorbis?.isOpen == true }

    /// Writes frames at the file's rate.
    private func put(_ channels: Channels, _ frames: Int, _ offset: Int) throws(AudioFileError) {
        if let vorbis {
            try vorbis.write(channels, frames, offset)
            if converter == nil { frameCount += frames }
            return
        }
        var done = 0
        while done < frames {
            let block = min(frames - done, Self.blockFrames)
            let dithered = dither?.apply(channels, offset: offset + done, frameCount: block)
            interleaved.withUnsafeMutableBytes { bytes in
                guard let to = bytes.baseAddress else { return }
                sampleType.write(
                    dithered ?? channels, offset: dithered == nil ? offset + done : 0, frameCount: block, into: to,
                    channelCount: format.channelCount)
            }
            try writeInterleaved(block)
            done += block
            // The header is updated after each quarter of a second, so that a long write does not fail as a whole.
            if framesSinceHeader > Int(fileSampleRate / 4) { try putHeader() }
        }
    }

    private func writeInterleaved(_ frames: Int) throws(AudioFileError) {
        guard let file else { throw .closed(path: path) }
        guard frameCount + frames <= maximumFrameCount else { throw stop(.tooLong(path: path)) }
        let end = lseek(fileDescriptor, 0, SEEK_CUR)
        errno = 0
        let written = write(file, frames)
        let code = errno
        framesSinceHeader += frames
        // libsndfile reports no error when it writes Ogg pages, so the stream's own error is checked.
        if let error = stream?.error { throw stop(error) }
        guard written == frames, sf_error(file) == CInt(SF_ERR_NO_ERROR) else {
            throw stop(
                code == 0 ? .diskFull(path: path) : .from(errno: code, path: path), written: written, end: Int(end))
        }
        if converter == nil { frameCount += frames }
        flac?.update(fileDescriptor, framesGiven: frameCount)
    }

    private func write(_ file: OpaquePointer, _ frames: Int) -> Int {
        let (count, frames) = (frames * format.channelCount, sf_count_t(frames))
        return interleaved.withUnsafeMutableBytes { bytes in
            switch sampleType {
            case .int16:
                return Int(
                    sf_writef_short(file, bytes.assumingMemoryBound(to: Int16.self).baseAddress, sf_count_t(frames)))
            case .int24In32:
                let samples = bytes.assumingMemoryBound(to: Int32.self)
                for i in 0..<count { samples[i] <<= 8 }
                return Int(sf_writef_int(file, samples.baseAddress, frames))
            default:
                return Int(
                    sf_writef_float(file, bytes.assumingMemoryBound(to: Float.self).baseAddress, sf_count_t(frames)))
            }
        }
    }

    /// Updates the header for the frames written so far.
    private func putHeader() throws(AudioFileError) {
        guard isOpen else { throw .closed(path: path) }
        guard let file else { return }
        framesSinceHeader = 0
        guard SndfilePlan.hasLength(type), stream == nil else { return }
        errno = 0
        sf_command(file, CInt(SFC_UPDATE_HEADER_NOW), nil, 0)
        if sf_error(file) != CInt(SF_ERR_NO_ERROR) { throw stop(.from(errno: errno, path: path)) }
        header?.apply(fileDescriptor)
    }

    /// Closes the file after an error, so that it plays: unchanged, or truncated after the last complete write. Returns `error`.
    private func stop(_ error: AudioFileError, written: Int = 0, end: Int = 0) -> AudioFileError {
        guard let file else { return error }
        if let stream {
            self.file = nil
            sf_close(file)
            try? stream.output.close()
            return error
        }
        if SndfilePlan.hasLength(type) {
            frameCount += max(0, written)
            var completeFrames = sf_count_t(frameCount)  // drops an incomplete frame at the end
            sf_command(file, CInt(SFC_FILE_TRUNCATE), &completeFrames, CInt(MemoryLayout<sf_count_t>.size))
            sf_command(file, CInt(SFC_UPDATE_HEADER_NOW), nil, 0)
            try? close()
            return error
        }
        self.file = nil
        sf_close(file)
        ftruncate(fileDescriptor, off_t(end))
        if flac != nil { frameCount = flac?.framesWritten ?? 0 }
        Glibc.close(fileDescriptor)
        return error
    }

    /// Ends an Opus file without sound, of which libsndfile writes only the headers, by adding a packet that players skip.
    /// Returns 0 or an errno.
    private func putEmptyEnd() -> CInt {
        var bytes = [UInt8](repeating: 0, count: 4_096)
        let count = max(0, pread(fileDescriptor, &bytes, bytes.count, 0))
        guard let page = OggPage.emptyOpusEnd(behind: StreamBuffer(Array(bytes.prefix(count)))) else { return 0 }
        return page.withUnsafeBytes { pwrite(fileDescriptor, $0.baseAddress, $0.count, off_t(count)) } < 0 ? errno : 0
    }

    /// Writes remaining frames and the final header, and closes the file. A second call does nothing. Releasing the writer closes
    /// it as well.
    public func close() throws(AudioFileError) {
        guard isOpen else { return }
        while let produced = converter?.finish(), produced > 0 {
            if let converted = converter?.output { try put(converted, produced, 0) }
        }
        try vorbis?.close()
        guard let file else { return }
        let end = lseek(fileDescriptor, 0, SEEK_CUR)
        self.file = nil
        errno = 0
        let failed = sf_close(file) != 0
        var code = errno
        if let stream {
            defer { try? stream.output.close() }
            if let error = stream.error { throw error }
            return try stream.output.close()
        }
        // libsndfile ignores errors of the last write of FLAC and Ogg.
        if failed || code == ENOSPC || code == EDQUOT || code == EFBIG || code == EIO {
            if code == 0 { code = EIO }
            if !SndfilePlan.hasLength(type) { ftruncate(fileDescriptor, end) }
        } else {
            code = 0
        }
        header?.apply(fileDescriptor)
        if code == 0, type == .opus, frameCount == 0 { code = putEmptyEnd() }
        // A network file system may report only here that its disk is full.
        let closed = Glibc.close(fileDescriptor)
        if code != 0 { throw .from(errno: code, path: path) }
        if closed != 0 { throw .from(errno: errno, path: path) }
    }
}
