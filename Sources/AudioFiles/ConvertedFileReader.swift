// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP

/// Reads a file at the caller's sample rate and channel count.
///
/// Mono is copied to every channel. Three to eight channels are mixed to two by ITU-R BS.775: left, centre at −3 dB and left back
/// and side at −3 dB, without the low-frequency channel; the right likewise. The sum is attenuated so that it cannot clip. Mono
/// is the mean of both sides. Two, or more than eight, channels are averaged to mono. Otherwise channels map one to one, and
/// missing channels are silent. For one thread at a time; memory is bounded whatever the file's length.
public final class ConvertedFileReader {
    /// The format of the frames that are read.
    public let processingFormat: AudioFormat
    /// The total number of frames at the rate of ``processingFormat``, by the file's header.
    public let frameCount: Int

    private let reader: any SoundFileReader
    private var converter: RateConverter
    private let downmix: Downmix?
    private let raw: AudioBuffer  // in the file's format
    private let mapped: AudioBuffer  // with the wanted channels, at the file's rate
    private let skipped: AudioBuffer  // frames that a seek reads and drops
    private var mappedFrames = 0
    private var mappedOffset = 0
    private var framesRead = 0
    private var framesGiven = 0
    private var fileEnded = false
    private static let blockFrames = 1024

    /// Creates a reader of the remaining frames of another reader, which the new reader then owns.
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

    /// The first frame of the next read, at the rate of ``processingFormat``.
    public var framePosition: Int { framesGiven }

    /// The number of samples read so far that were NaN or infinite in the file, and were replaced by 0.
    package var faultCount: Int { reader.faultCount }

    /// Seeks to a frame of ``processingFormat``, exactly: the next frames are the same as in a read from the beginning.
    /// - Parameter frame: 0 or more; clamped to the end.
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
    /// - Returns: fewer frames than requested only at the end of the file, then 0.
    public func read(into channels: Channels, frameCount: Int, offset: Int = 0) throws(AudioFileError) -> Int {
        if processingFormat == reader.processingFormat {
            let readCount = try reader.read(into: channels, frameCount: frameCount, offset: offset)
            framesRead += readCount
            framesGiven += readCount
            return readCount
        }
        var done = 0
        while done < frameCount {
            if mappedOffset == mappedFrames { try refill() }
            var room = frameCount - done
            if fileEnded {
                // Silence after the end pushes out the converter's remaining frames.
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
        let readCount = try reader.read(into: raw.channels, frameCount: Self.blockFrames)
        framesRead += readCount
        if let downmix {
            downmix.process(raw.channels, to: mapped.channels, frameCount: readCount)
        } else {
            mapChannels(raw.channels, to: mapped.channels, frameCount: readCount)
        }
        if readCount < Self.blockFrames {
            fileEnded = true
            for c in 0..<mapped.channels.count {
                clearSamples(mapped.channels[c] + readCount, Self.blockFrames - readCount)
            }
        }
    }
}
