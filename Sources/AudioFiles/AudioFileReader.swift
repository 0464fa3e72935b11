import AudioBase
import CSndfile
import Glibc

/// Reads any sound file that libsndfile knows (WAV, AIFF, FLAC, Ogg Vorbis and Opus, MP3, …) as planar floats.
///
/// One thread at a time; reading waits for the disk, so never on a render thread.
public final class AudioFileReader {
    /// Where the file is.
    public let path: String
    /// The file's rate and channel count.
    public let processingFormat: AudioFormat
    /// Frames in the file, as its header says; a damaged file may end earlier.
    public let frameCount: Int
    /// The frame that the next read begins with.
    public private(set) var framePosition = 0
    /// Samples read so far that were no number, or infinite, and came as 0.
    public private(set) var faultCount = 0

    private let file: OpaquePointer
    private let fileDescriptor: CInt
    private var interleaved: [Float]
    /// Frames before its goal from which a seek decodes. A frame of an MP3 may begin 511 bytes before itself, and where frames
    /// are small that is many of them.
    private let leadFrames: Int
    private static let blockFrames = 2048

    /// Opens a file. Throws what opening can: missing, not permitted, a folder, not audio, an unsupported format.
    public init(path: String) throws(AudioFileError) {
        // Non-blocking, so that a pipe cannot hang the open; it means nothing to a plain file.
        let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw .from(errno: errno, path: path) }
        do {
            (file, processingFormat, frameCount, leadFrames) = try Self.openSound(descriptor, path)
        } catch {
            close(descriptor)
            throw error
        }
        self.path = path
        fileDescriptor = descriptor
        interleaved = [Float](repeating: 0, count: Self.blockFrames * processingFormat.channelCount)
    }

    deinit {
        sf_close(file)
        close(fileDescriptor)
    }

    private static func openSound(_ descriptor: CInt, _ path: String) throws(AudioFileError)
        -> (OpaquePointer, AudioFormat, Int, Int)
    {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .from(errno: errno, path: path) }
        switch status.st_mode & S_IFMT {
        case S_IFREG: break
        case S_IFDIR: throw .directory(path: path)
        default: throw .notRegular(path: path)
        }
        var info = SF_INFO()
        guard let file = sf_open_fd(descriptor, CInt(SFM_READ), &info, CInt(SF_FALSE)) else {
            throw .notAudio(path: path, reason: AudioFileError.reason(nil))
        }
        let rate = Double(info.samplerate)
        let channels = Int(info.channels)
        guard AudioFormat.sampleRates.contains(rate) else {
            sf_close(file)
            throw .unsupportedSampleRate(path: path, hertz: Int(info.samplerate))
        }
        guard AudioFormat.channelCounts.contains(channels) else {
            sf_close(file)
            throw .unsupportedChannelCount(path: path, count: channels)
        }
        let lead = info.format & CInt(SF_FORMAT_TYPEMASK) == CInt(SF_FORMAT_MPEG) ? 16 * 1_152 : 0
        return (file, AudioFormat(sampleRate: rate, channelCount: channels), max(0, Int(info.frames)), lead)
    }

    /// Goes to a frame, exactly; one behind the end is the end.
    /// - Parameter frame: 0 or more.
    public func seek(to frame: Int) throws(AudioFileError) {
        precondition(frame >= 0)
        let target = min(frame, frameCount)
        let at = sf_seek(file, sf_count_t(max(0, target - leadFrames)), SEEK_SET)
        guard at >= 0 else { throw .notSeekable(path: path) }
        framePosition = Int(at)
        while framePosition < target {
            let got = Int(sf_readf_float(file, &interleaved, sf_count_t(min(target - framePosition, Self.blockFrames))))
            if got <= 0 { break }
            framePosition += got
        }
    }

    /// Reads the next frames. Integer samples come as −1 to 1; a float that is not finite comes as 0.
    /// - Parameters:
    ///   - channels: at least as many as the file has; the rest is left alone.
    ///   - offset: where in the channels to begin, in frames.
    /// - Returns: the frames read: fewer than asked for only at the end of the file, then 0.
    /// - Throws: ``AudioFileError/damaged(path:reason:)``; the next read goes on behind the fault where that is possible.
    public func read(into channels: Channels, frameCount: Int, offset: Int) throws(AudioFileError) -> Int {
        let count = processingFormat.channelCount
        precondition(channels.count >= count && frameCount >= 0)
        var done = 0
        while done < frameCount {
            let wanted = min(frameCount - done, Self.blockFrames)
            let got = Int(sf_readf_float(file, &interleaved, sf_count_t(wanted)))
            var faults = 0
            interleaved.withUnsafeBufferPointer { samples in
                for c in 0..<count {
                    let to = channels[c] + offset + done
                    for i in 0..<max(0, got) {
                        let sample = samples[i * count + c]
                        to[i] = sample.isFinite ? sample : 0
                        faults &+= sample.isFinite ? 0 : 1
                    }
                }
            }
            faultCount += faults
            done += max(0, got)
            framePosition += max(0, got)
            if got < wanted {
                guard sf_error(file) == CInt(SF_ERR_NO_ERROR) else {
                    throw .damaged(path: path, reason: AudioFileError.reason(file))
                }
                break
            }
        }
        return done
    }
}
