// SPDX-License-Identifier: Apache-2.0

import CEarshotSndfile
import EarshotAudioBase

/// Reads any sound file that libsndfile knows (WAV, RF64, AIFF, CAF, FLAC, Ogg Vorbis and Opus, MP3, …) as planar floats.
///
/// Channels come in the order of WAV and FLAC (left, right, centre, low frequencies, back, side), those of Ogg too.
/// A FLAC or Ogg file that was never closed has its length too: it ends with its last whole block or page.
/// One thread at a time; reading waits for the disk, so never on a render thread.
public final class AudioFileReader {
    /// The file's path.
    public let path: String
    /// The file's rate and channel count.
    public let processingFormat: AudioFormat
    /// Frames in the file, as its header says; a damaged file may end earlier.
    public let frameCount: Int
    /// The frame that the next read begins with.
    public private(set) var framePosition = 0
    /// Samples read so far that were NaN or infinite and were replaced by 0.
    public private(set) var faultCount = 0

    /// libsndfile's code of the format.
    let libraryFormat: CInt
    private let file: OpaquePointer
    private let source: ReadableFile
    private let isInt16: Bool  // and so it is read without a detour
    private let part: PatchedFileView?  // what libsndfile reads in place of the whole file
    private let order: [Int]  // of the file's channels, by ours
    private var interleaved: [Float]
    /// Frames before its goal from which a seek decodes. A frame of an MP3 may begin 511 bytes before itself, and where frames
    /// are small that is many of them; libsndfile gives a Vorbis block's overlap wrongly where it enters.
    private let leadFrames: Int
    /// Frames at the end in which libsndfile loses count where a seek enters: an Ogg file's last page is cut to its length.
    private let lastPageFrames: Int
    private static let blockFrames = 8192

    /// Opens a file. Throws what opening can: missing, not permitted, a folder, not audio, an unsupported format.
    public convenience init(path: String) throws(AudioFileError) {
        try self.init(try ReadableFile(path))
    }

    package init(_ source: ReadableFile) throws(AudioFileError) {
        var info = SF_INFO()
        // Before libsndfile sees the file: it would complain on standard error of a header that is not right.
        var part = AudioFileType(source) == .mp3 ? MP3Length.told(source) : nil
        let told = part?.open(&info)
        if told == nil { (part, info) = (nil, SF_INFO()) }
        guard var file = told ?? Libsndfile.open(source.descriptor, CInt(SFM_READ), &info) else {
            throw .notAudio(path: source.path, reason: source.refusal(AudioFileError.reason(nil)))
        }
        let type = info.format & CInt(SF_FORMAT_TYPEMASK)
        // A program that was killed, or wrote to a pipe, left no length.
        let isOgg = type == CInt(SF_FORMAT_OGG)
        if info.frames == sf_count_t.max, isOgg || type == CInt(SF_FORMAT_FLAC) {
            part = isOgg ? OggTail.end(source).map { PatchedFileView(source, byteCount: $0) } : FLACTail.whole(source)
            var wholeInfo = SF_INFO()
            if let other = part?.open(&wholeInfo) {
                sf_close(file)
                (file, info) = (other, wholeInfo)
            }
            if info.frames == sf_count_t.max { info.frames = 0 }  // nothing whole is in it
        }
        self.file = file
        self.source = source
        self.part = part
        libraryFormat = info.format
        isInt16 = info.format & CInt(SF_FORMAT_SUBMASK) == CInt(SF_FORMAT_PCM_16)
        path = source.path
        frameCount = max(0, Int(info.frames))
        leadFrames = type == CInt(SF_FORMAT_MPEG) ? 16 * 1_152 : isOgg ? 8_192 : 0
        lastPageFrames = isOgg ? OggTail.lastPageFrames(source) : 0
        let rate = Double(info.samplerate)
        let channels = Int(info.channels)
        let fits = AudioFormat.sampleRates.contains(rate) && AudioFormat.channelCounts.contains(channels)
        order = VorbisChannels.order(info, source) ?? Array(0..<max(0, channels))
        processingFormat =
            fits
            ? AudioFormat(sampleRate: rate, channelCount: channels) : AudioFormat(sampleRate: 48_000, channelCount: 1)
        interleaved = [Float](repeating: 0, count: Self.blockFrames * processingFormat.channelCount)
        guard AudioFormat.sampleRates.contains(rate) else {
            throw .unsupportedSampleRate(path: path, hertz: Int(info.samplerate))
        }
        guard fits else { throw .unsupportedChannelCount(path: path, count: channels) }
    }

    deinit { sf_close(file) }

    /// The beginning of a broadcast WAV, in frames from midnight; nil for other files.
    var timeReference: Int? {
        var info = SF_BROADCAST_INFO()
        let size = CInt(MemoryLayout<SF_BROADCAST_INFO>.size)
        guard sf_command(file, CInt(SFC_GET_BROADCAST_INFO), &info, size) != 0 else { return nil }
        return Int(info.time_reference_high) << 32 | Int(info.time_reference_low)
    }

    /// Goes to a frame, exactly; one behind the end is the end.
    /// - Parameter frame: 0 or more.
    public func seek(to frame: Int) throws(AudioFileError) {
        precondition(frame >= 0)
        let target = min(frame, frameCount)
        let start = min(target, frameCount - lastPageFrames) - leadFrames
        let at = sf_seek(file, sf_count_t(max(0, start)), SEEK_SET)
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
    /// - Throws: ``AudioFileError/damaged(path:reason:)``; the next read goes on behind the fault if that is possible.
    public func read(into channels: Channels, frameCount: Int, offset: Int) throws(AudioFileError) -> Int {
        let count = processingFormat.channelCount
        precondition(channels.count >= count && frameCount >= 0)
        var done = 0
        let frameCount = min(frameCount, max(0, self.frameCount - framePosition))
        while done < frameCount {
            let wanted = min(frameCount - done, Self.blockFrames)
            let got = readBlock(wanted, channels, offset + done)
            done += max(0, got)
            framePosition += max(0, got)
            if got < wanted {
                guard sf_error(file) == CInt(SF_ERR_NO_ERROR) else {
                    throw .damaged(path: path, reason: "\(AudioFileError.reason(file)) at frame \(framePosition)")
                }
                break
            }
        }
        return done
    }

    /// Reads frames to a place in channels; returns how many, or less than 0.
    private func readBlock(_ frames: Int, _ channels: Channels, _ offset: Int) -> Int {
        let count = processingFormat.channelCount
        guard isInt16, channels.count == count else {
            let got = Int(sf_readf_float(file, &interleaved, sf_count_t(frames)))
            faultCount += part(max(0, got), into: channels, at: offset)
            return got
        }
        return interleaved.withUnsafeMutableBytes { bytes in
            guard let shortSamples = bytes.baseAddress?.assumingMemoryBound(to: Int16.self) else { return 0 }
            let got = Int(sf_readf_short(file, shortSamples, sf_count_t(frames)))
            SampleType.int16.read(
                shortSamples, channelCount: count, frameCount: max(0, got), into: channels, offset: offset)
            return got
        }
    }

    /// Hands out what was read, channel by channel, with 0 in place of what is not finite; returns how often that was.
    private func part(_ frames: Int, into channels: Channels, at offset: Int) -> Int {
        let count = processingFormat.channelCount
        return interleaved.withUnsafeBufferPointer { samples in
            // An exponent of ones carries into the sign.
            var marks: UInt32 = 0
            for i in 0..<frames * count { marks |= (samples[i].bitPattern & 0x7FFF_FFFF) &+ 0x0080_0000 }
            guard marks < 0x8000_0000 else { return partWithFaults(samples, frames, channels, offset) }
            if count == 2 {
                let (left, right) = (channels[0] + offset, channels[1] + offset)
                for i in 0..<frames { (left[i], right[i]) = (samples[2 * i], samples[2 * i + 1]) }
            } else {
                for c in 0..<count {
                    let to = channels[c] + offset
                    let from = order[c]
                    for i in 0..<frames { to[i] = samples[i * count + from] }
                }
            }
            return 0
        }
    }

    private func partWithFaults(
        _ samples: UnsafeBufferPointer<Float>, _ frames: Int, _ channels: Channels, _ offset: Int
    ) -> Int {
        guard let from = samples.baseAddress else { return 0 }
        let count = processingFormat.channelCount
        return (0..<count).reduce(0) {
            $0 + copyFiniteSamples(channels[$1] + offset, from + order[$1], frames, stride: count)
        }
    }
}
