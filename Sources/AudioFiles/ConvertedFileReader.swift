// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP

/// Reads a file at the rate and channel count that the caller wants.
///
/// Mono is copied to every channel. Three to eight channels become two or one as speakers do (ITU-R BS.775): left, centre 3 dB
/// lower and what is behind or beside on the left 3 dB lower, without the low frequencies' own channel, all so much softer that
/// nothing clips; the right likewise; mono is the mean of both. Two or more than eight to mono are the average. Otherwise channels
/// go to their like, and channels that the file lacks are silent. One thread at a time; memory is bounded whatever the file's
/// length.
public final class ConvertedFileReader {
    /// The format of ``read(into:frameCount:offset:)``.
    public let processingFormat: AudioFormat
    /// Frames it will give in all, by the file's header.
    public let frameCount: Int

    private let reader: any SoundFileReader
    private var converter: RateConverter
    private let downmix: Downmix?
    private let raw: AudioBuffer  // as the file has it
    private let mapped: AudioBuffer  // with the wanted channels, at the file's rate
    private let skipped: AudioBuffer  // what lies between where a seek could go and its goal
    private var mappedFrames = 0
    private var mappedOffset = 0
    private var framesRead = 0
    private var framesGiven = 0
    private var fileEnded = false
    private static let blockFrames = 1024

    /// Reads the frames that a reader has left; the reader belongs to this one from now on.
    public init(_ reader: any SoundFileReader, as format: AudioFormat) {
        self.reader = reader
        processingFormat = format
        let file = reader.processingFormat
        frameCount = RateConverter.frameCount(reader.frameCount, from: file.sampleRate, to: format.sampleRate)
        converter = RateConverter(from: file.sampleRate, to: format.sampleRate, channelCount: format.channelCount)
        downmix = Downmix(from: file.channelCount, to: format.channelCount)
        raw = AudioBuffer(channelCount: file.channelCount, frameCapacity: Self.blockFrames)
        mapped = AudioBuffer(channelCount: format.channelCount, frameCapacity: Self.blockFrames)
        skipped = AudioBuffer(channelCount: format.channelCount, frameCapacity: Self.blockFrames)
    }

    /// The frame that the next read begins with, in frames of ``processingFormat``.
    public var framePosition: Int { framesGiven }

    /// Samples of the file, read so far, that were no number, or infinite, and came as 0.
    public var faultCount: Int { reader.faultCount }

    /// Goes to a frame of ``processingFormat``, exactly: what comes then is what reading from the beginning gives there. One
    /// behind the end is the end.
    /// - Parameter frame: 0 or more.
    /// - Throws: as ``SoundFileReader/seek(to:)``.
    public func seek(to frame: Int) throws(AudioFileError) {
        precondition(frame >= 0)
        let (from, to) = (reader.processingFormat.sampleRate, processingFormat.sampleRate)
        let start = RateConverter.start(for: min(frame, frameCount), from: from, to: to)
        try reader.seek(to: min(start, reader.frameCount))
        framesRead = reader.framePosition
        framesGiven = Int((Double(framesRead) * to / from).rounded())
        converter = RateConverter(from: from, to: to, channelCount: processingFormat.channelCount)
        (mappedFrames, mappedOffset, fileEnded) = (0, 0, false)
        while framesGiven < min(frame, frameCount) {
            let left = min(frame, frameCount) - framesGiven
            if try read(into: skipped.channels, frameCount: min(left, Self.blockFrames)) == 0 { break }
        }
    }

    /// Reads the next frames.
    /// - Returns: fewer frames than asked for only at the end of the file, then 0.
    public func read(into channels: Channels, frameCount: Int, offset: Int = 0) throws(AudioFileError) -> Int {
        if processingFormat == reader.processingFormat {
            let got = try reader.read(into: channels, frameCount: frameCount, offset: offset)
            framesRead += got
            framesGiven += got
            return got
        }
        var done = 0
        while done < frameCount {
            if mappedOffset == mappedFrames { try refill() }
            var room = frameCount - done
            if fileEnded {
                // Behind the file comes silence, only to push out what the converter still holds.
                let total = RateConverter.frameCount(
                    framesRead, from: reader.processingFormat.sampleRate, to: processingFormat.sampleRate)
                room = min(room, total - framesGiven)
                if room <= 0 { break }
            }
            let (consumed, produced) = converter.convert(
                mapped.channels, frameCount: mappedFrames - mappedOffset, inputOffset: mappedOffset, into: channels,
                frameCapacity: room, outputOffset: offset + done)
            mappedOffset += consumed
            framesGiven += produced
            done += produced
        }
        return done
    }

    private func refill() throws(AudioFileError) {
        mappedOffset = 0
        mappedFrames = Self.blockFrames
        guard !fileEnded else { return }
        let got = try reader.read(into: raw.channels, frameCount: Self.blockFrames)
        framesRead += got
        if let downmix {
            downmix.process(raw.channels, to: mapped.channels, frameCount: got)
        } else {
            mapChannels(raw.channels, to: mapped.channels, frameCount: got)
        }
        if got < Self.blockFrames {
            fileEnded = true
            for c in 0..<mapped.channels.count { clearSamples(mapped.channels[c] + got, Self.blockFrames - got) }
        }
    }
}
