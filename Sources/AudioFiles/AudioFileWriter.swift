import AudioBase
import CSndfile
import Glibc

/// Writes a WAV file whose header is right after every write, so that a process killed at any instant leaves a file that
/// plays up to its last whole write. (Nothing is forced to the disk: a power cut may lose what the system still held.)
/// Where the path ends in `.flac` it is FLAC instead, of 24 or 16 bits, which knows its length only once it is closed.
///
/// A new file has mode 0600: what people said is theirs. An existing file is emptied and keeps its mode.
/// One thread at a time; writing waits for the disk, so never on a render thread.
public final class AudioFileWriter {
    /// How samples are stored.
    public enum SampleFormat: Sendable, CaseIterable {
        /// 32-bit floating point, stored as they come.
        case float32
        /// 16-bit integers, rounded; beyond full scale they are clipped.
        case int16

        var byteCount: Int { self == .float32 ? 4 : 2 }
        var code: CInt { CInt(bitPattern: UInt32(self == .float32 ? SF_FORMAT_FLOAT : SF_FORMAT_PCM_16)) }
    }

    /// Where the file is.
    public let path: String
    /// The rate, which WAV keeps as whole hertz, and the channel count.
    public let format: AudioFormat
    /// Frames in the file.
    public private(set) var frameCount = 0

    private var file: OpaquePointer?
    private let fileDescriptor: CInt
    private let maximumFrameCount: Int
    private var interleaved: [Float]
    private static let blockFrames = 2048

    /// Creates or empties a file and writes its header.
    /// - Throws: missing folder, not permitted, a folder, not a plain file, disk full.
    public init(path: String, format: AudioFormat, sampleFormat: SampleFormat = .float32) throws(AudioFileError) {
        let descriptor = try WritableFile.open(path)
        do {
            file = try Self.openSound(descriptor, path, format, sampleFormat)
        } catch {
            Glibc.close(descriptor)
            throw error
        }
        self.path = path
        self.format = format
        fileDescriptor = descriptor
        maximumFrameCount = (Int(UInt32.max) - 4096) / (sampleFormat.byteCount * format.channelCount)
        interleaved = [Float](repeating: 0, count: Self.blockFrames * format.channelCount)
    }

    deinit { try? close() }

    private static func openSound(
        _ descriptor: CInt, _ path: String, _ format: AudioFormat, _ sampleFormat: SampleFormat
    ) throws(AudioFileError) -> OpaquePointer {
        var info = SF_INFO()
        info.samplerate = CInt(format.sampleRate.rounded())
        info.channels = CInt(format.channelCount)
        let isFLAC = path.lowercased().hasSuffix(".flac")
        info.format =
            isFLAC
            ? CInt(bitPattern: UInt32(SF_FORMAT_FLAC))
                | CInt(bitPattern: UInt32(sampleFormat == .int16 ? SF_FORMAT_PCM_16 : SF_FORMAT_PCM_24))
            : CInt(bitPattern: UInt32(SF_FORMAT_WAV)) | sampleFormat.code
        errno = 0
        guard let file = sf_open_fd(descriptor, CInt(SFM_WRITE), &info, CInt(SF_FALSE)) else {
            let code = errno
            throw code == 0
                ? .notAudio(path: path, reason: AudioFileError.reason(nil)) : .from(errno: code, path: path)
        }
        sf_command(file, CInt(SFC_SET_ADD_PEAK_CHUNK), nil, CInt(SF_FALSE))  // it holds the time of day
        sf_command(file, CInt(SFC_SET_CLIPPING), nil, CInt(SF_TRUE))
        guard !isFLAC else { return file }
        sf_command(file, CInt(SFC_SET_UPDATE_HEADER_AUTO), nil, CInt(SF_TRUE))
        errno = 0
        sf_command(file, CInt(SFC_UPDATE_HEADER_NOW), nil, 0)
        guard errno == 0 else {
            let code = errno
            sf_close(file)
            throw .from(errno: code, path: path)
        }
        return file
    }

    /// Appends frames.
    /// - Parameters:
    ///   - channels: at least as many as the format has; the rest is left out.
    ///   - offset: where in the channels the frames begin.
    /// - Throws: disk full, too long, closed, system. After any of them the file is closed, with all whole frames that
    ///   reached the disk and a header that says so.
    public func write(_ channels: Channels, frameCount: Int, offset: Int = 0) throws(AudioFileError) {
        let count = format.channelCount
        precondition(channels.count >= count && frameCount >= 0)
        var done = 0
        while done < frameCount {
            let frames = min(frameCount - done, Self.blockFrames)
            interleaved.withUnsafeMutableBufferPointer { samples in
                for c in 0..<count {
                    let from = channels[c] + offset + done
                    for i in 0..<frames { samples[i * count + c] = from[i] }
                }
            }
            try writeInterleaved(frames)
            done += frames
        }
    }

    /// Appends `frameCount` frames of silence. Throws as ``write(_:frameCount:offset:)`` does.
    public func writeSilence(frameCount: Int) throws(AudioFileError) {
        precondition(frameCount >= 0)
        for i in interleaved.indices { interleaved[i] = 0 }
        var done = 0
        while done < frameCount {
            let frames = min(frameCount - done, Self.blockFrames)
            try writeInterleaved(frames)
            done += frames
        }
    }

    private func writeInterleaved(_ frames: Int) throws(AudioFileError) {
        guard let file else { throw .closed(path: path) }
        guard frameCount + frames <= maximumFrameCount else { throw stop(.tooLong(path: path)) }
        errno = 0
        let written = Int(sf_writef_float(file, interleaved, sf_count_t(frames)))
        let code = errno
        frameCount += max(0, written)
        guard written == frames else {
            var whole = sf_count_t(frameCount)  // drops the part of a frame that still found room
            sf_command(file, CInt(SFC_FILE_TRUNCATE), &whole, CInt(MemoryLayout<sf_count_t>.size))
            sf_command(file, CInt(SFC_UPDATE_HEADER_NOW), nil, 0)
            throw stop(code == 0 ? .diskFull(path: path) : .from(errno: code, path: path))
        }
    }

    private func stop(_ error: AudioFileError) -> AudioFileError {
        try? close()
        return error
    }

    /// Writes the header a last time and closes the file; again does nothing. Also done when the writer is freed.
    public func close() throws(AudioFileError) {
        guard let file else { return }
        self.file = nil
        let failed = sf_close(file) != 0
        let code = failed ? errno : 0
        // A network file system may report only here that its disk was full.
        let closed = Glibc.close(fileDescriptor)
        if failed { throw .from(errno: code, path: path) }
        if closed != 0 { throw .from(errno: errno, path: path) }
    }
}
