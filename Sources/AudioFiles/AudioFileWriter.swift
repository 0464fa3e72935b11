// SPDX-License-Identifier: Apache-2.0

import CEarshotSndfile
import EarshotAudioBase
import Glibc

/// Writes a sound file by libsndfile (WAV, RF64, AIFF, CAF, FLAC, Ogg Opus) or libvorbis (Ogg Vorbis).
///
/// A process that is killed leaves a file that plays. In WAV, RF64, AIFF and CAF all is there up to the last whole write, in
/// FLAC up to its last whole block (0.1 s at 48 kHz), in Opus and Vorbis up to some 0.3 s. (Nothing is forced to the disk: a power
/// cut may lose what the system still held.) A file that was closed gives back exactly the frames that were written.
///
/// Rates that Opus or Vorbis have not are converted to one above, or to 48 or 44.1 kHz.
/// A new file has mode 0600: what people said is theirs. An existing file is emptied and keeps its mode.
/// One thread at a time; writing waits for the disk, so never on a render thread.
public final class AudioFileWriter {
    /// The file's path.
    public let path: String
    /// The file's kind.
    public let type: AudioFileType
    /// The format that is written: the channel count, and the rate, which most kinds keep as whole hertz.
    public let format: AudioFormat
    /// The file's rate, in hertz.
    public let fileSampleRate: Double
    /// Frames written, at the rate of ``format``.
    public private(set) var frameCount = 0

    private var file: OpaquePointer?
    private let fileDescriptor: CInt  // -1 of a stream
    private let stream: SndfileStream?
    private let vorbis: VorbisFile?  // in place of the three above
    private let header: WAVHeaderPatch?
    private let memory: SampleType
    private let maximumFrameCount: Int
    private var converter: WriteConverter?  // nil where the rates are equal
    private var flac: FLACLength?
    private var interleaved: [UInt32]
    private let silence: AudioBuffer
    private var framesSinceHeader = 0
    private static let blockFrames = 4096

    /// Creates or empties a file and writes its header.
    /// - Parameters:
    ///   - type: nil is the type of the path's extension; ``AudioFileType/rf64`` without a known one.
    ///   - sampleFormat: of all but Vorbis and Opus.
    ///   - bitRate: of Vorbis or Opus. Opus takes a constant number, 6 to 256 kb/s a channel, and keeps it on average, 96 kb/s
    ///     for stereo where nothing is said. Vorbis takes V0 to V9, V5 where nothing is said, or a number near which it will be.
    ///   - compressionLevel: of FLAC: 0 is quick, 8 small.
    /// - Throws: ``AudioFileError/unsupportedFormat(path:detail:)``, missing folder, not permitted, a folder, not a plain file,
    ///   disk full.
    public convenience init(
        path: String, format: AudioFormat, type: AudioFileType? = nil, sampleFormat: SampleFormat = .float32,
        bitRate: MP3Encoder.BitRate? = nil, compressionLevel: Int = 5
    ) throws(AudioFileError) {
        let plan = try SndfilePlan(
            path: path, format: format, type: type ?? .named(path), sampleFormat: sampleFormat, bitRate: bitRate,
            compressionLevel: compressionLevel)
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

    /// Begins a stream: WAV of unknown length, FLAC, Vorbis or Opus. It is never gone back in, so a WAV or FLAC says nothing of
    /// its length.
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
        memory = plan.memory
        maximumFrameCount = plan.maximumFrameCount
        converter = fileSampleRate == format.sampleRate ? nil : WriteConverter(from: format, to: fileSampleRate)
        flac = plan.type == .flac && stream == nil ? FLACLength() : nil
        interleaved = [UInt32](repeating: 0, count: Self.blockFrames * format.channelCount)
        silence = AudioBuffer(channelCount: format.channelCount, frameCapacity: Self.blockFrames)
        header?.apply(fileDescriptor)
    }

    deinit { try? close() }

    /// Appends frames.
    /// - Parameters:
    ///   - channels: at least as many as the format has; the rest is left out.
    ///   - offset: where in the channels the frames begin.
    /// - Throws: disk full, too long, closed, system. After any of them the file is closed, with all whole frames that
    ///   reached the disk and a header that says so.
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
            interleaved.withUnsafeMutableBytes { bytes in
                guard let to = bytes.baseAddress else { return }
                memory.write(
                    channels, offset: offset + done, frameCount: block, into: to, channelCount: format.channelCount)
            }
            try writeInterleaved(block)
            done += block
            // A long write must not be all or nothing.
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
        // Ogg's pages are written as if that could not fail, so the count says nothing of them.
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
            switch memory {
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

    /// Makes the header fit what is there by now.
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

    /// Closes the file after an error, so that it plays: as it is, or cut where its last whole write ended.
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
            var whole = sf_count_t(frameCount)  // drops the part of a frame that still found room
            sf_command(file, CInt(SFC_FILE_TRUNCATE), &whole, CInt(MemoryLayout<sf_count_t>.size))
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

    /// Ends an Opus file without sound, to which libsndfile writes its two headers alone: a packet of silence that is left out.
    /// Returns 0 or an errno.
    private func putEmptyEnd() -> CInt {
        var bytes = [UInt8](repeating: 0, count: 4_096)
        let count = max(0, pread(fileDescriptor, &bytes, bytes.count, 0))
        guard let page = OggPage.emptyOpusEnd(behind: StreamBuffer(Array(bytes.prefix(count)))) else { return 0 }
        return page.withUnsafeBytes { pwrite(fileDescriptor, $0.baseAddress, $0.count, off_t(count)) } < 0 ? errno : 0
    }

    /// Writes what is still held and the header a last time, and closes the file; again does nothing. Also done when the
    /// writer is freed.
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
        // A network file system may report only here that its disk was full.
        let closed = Glibc.close(fileDescriptor)
        if code != 0 { throw .from(errno: code, path: path) }
        if closed != 0 { throw .from(errno: errno, path: path) }
    }
}
