// SPDX-License-Identifier: Apache-2.0

import CEarshotSndfile
import EarshotAudioBase

/// Reads any sound file that libsndfile knows (WAV, RF64, AIFF, CAF, FLAC, Ogg Vorbis and Opus, MP3, …) as planar floats.
///
/// Channels have the order of WAV and FLAC (left, right, centre, low frequencies, back, side), also from Ogg. The length of an
/// unfinished FLAC or Ogg file is that up to its last complete block or page. For one thread at a time; reads block on the disk,
/// so never use it on a render thread.
public final class AudioFileReader {
    /// The file's path.
    public let path: String
    /// The file's sample rate and channel count.
    public let processingFormat: AudioFormat
    /// The number of frames by the header; a damaged file may end earlier.
    public let frameCount: Int
    /// The first frame of the next read.
    public private(set) var framePosition = 0
    /// The samples read so far that were NaN or infinite, and were replaced by 0.
    public private(set) var faultCount = 0

    /// True if the file shows that its end is missing: WAV, AIFF, CAF and MP3 are then shorter than their headers declare, and Ogg
    /// has no last page. False for other types.
    package var isCutOff: Bool {
        // A FLAC file may end with a complete frame, too early.
        isShortened || damageSkip != nil && framePosition < frameCount || source.isCutOff
    }

    /// libsndfile's code of the format.
    let libraryFormat: CInt
    private var file: OpaquePointer
    private let source: ReadableFile
    private let isInt16: Bool  // and so it is read without a detour
    private let isShortened: Bool  // an MP3 or CAF file shorter than its header declares
    private let part: PatchedFileView?  // what libsndfile reads in place of the whole file
    private let order: [Int]  // of the file's channels, by ours
    private var interleaved: [Float]
    /// The frames before its target from which a seek decodes. An MP3 frame may use 511 bytes of the frames before it, which are
    /// many if frames are small. libsndfile decodes the overlap of a Vorbis block wrongly after a seek.
    private let leadFrames: Int
    /// The frames at the end in which libsndfile miscounts after a seek: an Ogg file's last page is cut to its length.
    private let lastPageFrames: Int
    private let damageSkip: FLACDamageSkip?  // nil for other types
    private var hasFailed = false  // in the last read
    private var lostFrames = 0  // to be read as silence
    private static let blockFrames = 8192

    /// Opens a file.
    /// - Throws: ``AudioFileError``: missing, not permitted, a folder, not audio, unsupported format.
    public convenience init(path: String) throws(AudioFileError) {
        try self.init(try ReadableFile(path))
    }

    package init(_ source: ReadableFile) throws(AudioFileError) {
        var info = SF_INFO()
        // Before libsndfile opens the file: it would complain about a wrong header on standard error.
        let length = AudioFileType(source) == .mp3 ? MP3Length(source) : nil
        var part = length?.corrected ?? CAFLength.corrected(source)
        let told = part?.open(&info)
        if told == nil { (part, info) = (nil, SF_INFO()) }
        let isCutOffCAF = length == nil && part != nil
        guard var file = told ?? Libsndfile.open(source.descriptor, CInt(SFM_READ), &info) else {
            throw .notAudio(path: source.path, reason: source.refusal(AudioFileError.reason(nil)))
        }
        let type = info.format & CInt(SF_FORMAT_TYPEMASK)
        // A program that was killed, or wrote to a pipe, wrote no length.
        let isOgg = type == CInt(SF_FORMAT_OGG)
        let isFLAC = type == CInt(SF_FORMAT_FLAC)
        if info.frames == sf_count_t.max && isOgg || isFLAC && info.frames > FLACTail.maximumFrameCount(source) {
            part = isOgg ? OggTail.end(source).map { PatchedFileView(source, byteCount: $0) } : FLACTail.whole(source)
            var wholeInfo = SF_INFO()
            if let other = part?.open(&wholeInfo) {
                sf_close(file)
                (file, info) = (other, wholeInfo)
            } else {
                part = nil
            }
            if info.frames == sf_count_t.max { info.frames = 0 }  // nothing whole is in it
        }
        self.file = file
        self.source = source
        self.part = part
        isShortened = length?.isCutOff ?? isCutOffCAF
        libraryFormat = info.format
        isInt16 = info.format & CInt(SF_FORMAT_SUBMASK) == CInt(SF_FORMAT_PCM_16)
        path = source.path
        frameCount = max(0, Int(info.frames))
        leadFrames = type == CInt(SF_FORMAT_MPEG) ? 16 * 1_152 : isOgg ? 8_192 : 0
        lastPageFrames = isOgg ? OggTail.lastPageFrames(source) : 0
        damageSkip = isFLAC ? FLACDamageSkip(source, part) : nil
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

    /// The content besides sound, tags and pictures.
    package var extras: [AudioFileExtra] { AudioFileExtra.all(in: file, source) }

    /// The broadcast extension of a WAV; nil for other files.
    package var broadcastInfo: BroadcastInfo? { BroadcastInfo(file) }

    /// The loudspeakers of the channels; nil if the file does not tell them, or has them in another order than it is read.
    package var channelMap: ChannelMap? {
        ChannelMap(file, type: libraryFormat, channelCount: processingFormat.channelCount)
    }

    /// Seeks to a frame, exactly.
    /// - Parameter frame: 0 or more; clamped to the end.
    public func seek(to frame: Int) throws(AudioFileError) {
        precondition(frame >= 0)
        lostFrames = 0
        if hasFailed, let other = damageSkip?.open() {
            sf_close(file)
            file = other
        }
        hasFailed = false
        let target = min(frame, frameCount)
        let start = min(target, frameCount - lastPageFrames) - leadFrames
        let at = sf_seek(file, sf_count_t(max(0, start)), SEEK_SET)
        guard at >= 0 else {
            guard damageSkip != nil else { throw .notSeekable(path: path) }
            // The target is damaged: the next read skips the damage.
            hasFailed = true
            framePosition = target
            return
        }
        framePosition = Int(at)
        while framePosition < target {
            let got = Int(sf_readf_float(file, &interleaved, sf_count_t(min(target - framePosition, Self.blockFrames))))
            if got <= 0 { break }
            framePosition += got
        }
    }

    /// Reads the next frames. Integer samples are scaled to −1 to 1; a NaN or infinite sample becomes 0.
    /// - Parameters:
    ///   - channels: at least as many as the file has; others are not changed.
    ///   - offset: the first frame to fill.
    /// - Returns: the frames read: fewer than requested only at the end of the file, then 0.
    /// - Throws: ``AudioFileError/damaged(path:reason:)``; the next read continues after the damage if possible, with silence for
    ///   the lost sound.
    public func read(into channels: Channels, frameCount: Int, offset: Int) throws(AudioFileError) -> Int {
        let count = processingFormat.channelCount
        precondition(channels.count >= count && frameCount >= 0)
        var done = 0
        let frameCount = min(frameCount, max(0, self.frameCount - framePosition))
        if hasFailed { skipDamage() }
        if lostFrames > 0 {
            done = min(lostFrames, frameCount)
            for c in 0..<count { clearSamples(channels[c] + offset, done) }
            lostFrames -= done
            framePosition += done
        }
        while done < frameCount {
            let wanted = min(frameCount - done, Self.blockFrames)
            let got = readBlock(wanted, channels, offset + done)
            done += max(0, got)
            framePosition += max(0, got)
            if got < wanted {
                guard sf_error(file) == CInt(SF_ERR_NO_ERROR) else {
                    hasFailed = true
                    throw .damaged(path: path, reason: "\(AudioFileError.reason(file)) at frame \(framePosition)")
                }
                break
            }
        }
        return done
    }

    /// Continues with the next frame after a damage that can be decoded, if there is one.
    private func skipDamage() {
        hasFailed = false
        guard let (other, frame) = damageSkip?.reopen(after: framePosition, frameCount: frameCount) else { return }
        sf_close(file)
        file = other
        lostFrames = frame - framePosition
    }

    /// Reads frames at an offset. Returns their number, or a negative number after an error.
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

    /// Copies the frames read to each channel, with 0 for NaN and infinity. Returns the number of these samples.
    private func part(_ frames: Int, into channels: Channels, at offset: Int) -> Int {
        let count = processingFormat.channelCount
        return interleaved.withUnsafeBufferPointer { samples in
            // An exponent of ones carries into the sign bit.
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
