// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioCodecs
import EarshotAudioFiles
import Glibc

/// Writes AAC-LC files as M4A or as an ADTS stream, with libavcodec's encoder.
///
/// If the process is killed, the file plays up to less than a second before its last write: ADTS anyway, M4A because it is
/// written in fragments of half a second (``MovieFile``). A closed M4A is an ordinary one and plays exactly the frames that were
/// written; ADTS cannot declare where the sound begins and ends in its packets.
///
/// Sample rates that AAC does not support (8, 11.025 and 12 kHz, times 1, 2, 4 or 8) are converted: those above 96 kHz to 96 or
/// 88.2 kHz, the others to the next higher one. A new file has mode 0600; an existing file is truncated and keeps its mode. For
/// one thread at a time. Writing waits for the disk, so never write on a render thread.
public final class AACFileWriter {
    /// The container of the packets.
    public enum Container: Sendable, CaseIterable {
        /// MPEG-4, for `.m4a`.
        case m4a
        /// A stream of packets that can be cut anywhere, for `.aac`.
        case adts
    }
    /// The default bits per second for each channel: 64,000, or 3 bits per frame if that is less.
    package static func defaultBitRatePerChannel(sampleRate: Double) -> Int { min(64_000, Int(3 * sampleRate)) }

    /// The file's path.
    public let path: String
    /// The format of the frames to be written. The file's sample rate may differ.
    public let format: AudioFormat
    /// The file's sample rate in hertz.
    public let fileSampleRate: Double
    /// The number of frames written, at the sample rate of ``format``.
    public private(set) var frameCount = 0

    private let encoder: AACEncoder
    private let converter: RateConverter
    private let block: AudioBuffer  // the frames that the encoder gets next
    private var blockFrames = 0
    private let silence: AudioBuffer
    private let container: any PacketContainer
    private var convertedFrames = 0  // at the file's rate
    private var isOpen = true

    /// Creates a file; an existing file is truncated.
    /// - Parameters:
    ///   - format: 1 or 2 channels.
    ///   - bitRate: bits per second for all channels: at least 16,000 per channel, at most 6 per frame and channel; nil for
    ///     ``defaultBitRatePerChannel(sampleRate:)`` per channel.
    /// - Throws: ``AudioFileError/unsupportedFormat(path:detail:)`` and the errors of creating a file.
    public convenience init(
        path: String, format: AudioFormat, container: Container = .m4a, bitRate: Int? = nil
    ) throws(AudioFileError) {
        try self.init(path: path, format: format, container: container, bitRate: bitRate, search: .twoLoop)
    }

    /// Creates a file as ``init(path:format:container:bitRate:)`` does, with another search.
    convenience init(
        path: String, format: AudioFormat, container: Container, bitRate: Int?, search: AACEncoder.Search
    ) throws(AudioFileError) {
        try self.init(path, format, container, bitRate, search, nil)
    }

    /// Creates a writer to an output that is not seekable; an M4A stays in fragments.
    /// - Throws: ``AudioFileError/unsupportedFormat(path:detail:)``, ``AudioFileError/notRead(path:)``, system.
    convenience init(
        _ output: NonSeekableOutput, format: AudioFormat, container: Container, bitRate: Int? = nil,
        search: AACEncoder.Search = .twoLoop
    ) throws(AudioFileError) {
        try self.init(output.name, format, container, bitRate, search, output)
    }

    private init(
        _ path: String, _ format: AudioFormat, _ container: Container, _ bitRate: Int?, _ search: AACEncoder.Search,
        _ stream: NonSeekableOutput?
    ) throws(AudioFileError) {
        let rate = Self.fileSampleRate(for: format.sampleRate)
        do {
            encoder = try AACEncoder(
                sampleRate: rate, channelCount: format.channelCount,
                bitRate: bitRate ?? Self.defaultBitRatePerChannel(sampleRate: rate) * format.channelCount,
                bandwidth: .music, search: search)
        } catch { throw .unsupportedFormat(path: path, detail: error.description) }
        converter = RateConverter(from: format.sampleRate, to: rate, channelCount: format.channelCount)
        block = AudioBuffer(channelCount: format.channelCount, frameCapacity: AACEncoder.blockFrameCount)
        silence = AudioBuffer(channelCount: format.channelCount, frameCapacity: AACEncoder.blockFrameCount)
        self.path = path
        self.format = format
        fileSampleRate = rate
        let file = if let stream { AppendingFile(stream) } else { try AppendingFile(path: path) }
        switch container {
        case .adts: self.container = ADTSFile(file, encoder)
        case .m4a: self.container = try MovieFile(file, encoder)
        }
    }

    deinit { try? close() }

    private static func fileSampleRate(for rate: Double) -> Double {
        if let next = AACEncoder.allSampleRates.first(where: { $0 >= rate }) { return next }
        return rate.truncatingRemainder(dividingBy: 44_100) == 0 ? 88_200 : 96_000
    }

    /// Appends frames.
    /// - Parameters:
    ///   - channels: at least as many channels as ``format`` has; further channels are ignored.
    ///   - offset: the index in `channels` of the first frame to write.
    /// - Throws: disk full, closed, system. The file is then closed, with everything that reached the disk.
    public func write(_ channels: Channels, frameCount: Int, offset: Int = 0) throws(AudioFileError) {
        precondition(channels.count >= format.channelCount && frameCount >= 0)
        guard isOpen else { throw .closed(path: path) }
        var done = 0
        while done < frameCount {
            done += try append(channels, frameCount - done, offset + done, atMost: Int.max)
        }
        self.frameCount += frameCount
    }

    /// Appends `frameCount` frames of silence. Throws the errors of ``write(_:frameCount:offset:)``.
    public func writeSilence(frameCount: Int) throws(AudioFileError) {
        precondition(frameCount >= 0)
        var done = 0
        while done < frameCount {
            let frames = min(frameCount - done, silence.frameCapacity)
            try write(silence.channels, frameCount: frames)
            done += frames
        }
    }

    /// Converts frames into the block, and encodes the block when it is full. Returns the number of frames used.
    private func append(
        _ channels: Channels, _ frameCount: Int, _ offset: Int, atMost limit: Int
    ) throws(AudioFileError) -> Int {
        let (consumed, produced) = converter.convert(
            channels, frameCount: frameCount, inputOffset: offset, into: block.channels,
            frameCapacity: min(block.frameCapacity - blockFrames, limit), outputOffset: blockFrames)
        blockFrames += produced
        convertedFrames += produced
        if blockFrames == block.frameCapacity { try encode() }
        return consumed
    }

    private func encode() throws(AudioFileError) {
        blockFrames = 0
        try writePacket { () throws(CodecError) in try encoder.encode(block.channels) }
    }

    /// Writes the encoder's packet, if there is one, to the file. Returns true if there was one.
    @discardableResult
    private func writePacket(
        _ packet: () throws(CodecError) -> UnsafeRawBufferPointer?
    ) throws(AudioFileError) -> Bool {
        let bytes: UnsafeRawBufferPointer?
        do { bytes = try packet() } catch {
            throw abandon(.encoderFailed(path: path, reason: error.description))
        }
        guard let bytes else { return false }
        do { try container.append(bytes) } catch { throw abandon(error) }
        return true
    }

    /// Closes the file after an error, so that the file plays as far as it was written. Returns `error`.
    private func abandon(_ error: AudioFileError) -> AudioFileError {
        isOpen = false
        try? container.close(frameCount: convertedFrames)
        return error
    }

    /// Writes the encoder's remaining packets and closes the file. A second call does nothing. Freeing the writer closes the
    /// file, too. An M4A file is flushed to the disk before it becomes an ordinary one.
    public func close() throws(AudioFileError) {
        guard isOpen else { return }
        let total = RateConverter.frameCount(frameCount, from: format.sampleRate, to: fileSampleRate)
        while convertedFrames < total {  // silence pushes out what the converter still holds
            _ = try append(silence.channels, silence.frameCapacity, 0, atMost: total - convertedFrames)
        }
        if blockFrames > 0 || total == 0 {
            for c in 0..<format.channelCount {
                clearSamples(block.channels[c] + blockFrames, block.frameCapacity - blockFrames)
            }
            try encode()
        }
        while try writePacket({ () throws(CodecError) in try encoder.flush() }) {}
        isOpen = false
        try container.close(frameCount: total)
    }
}

extension AACFileWriter: SoundFileWriter {}

/// A container to which packets are appended.
protocol PacketContainer: AnyObject {
    /// Appends a packet. After an error the container holds only complete packets.
    func append(_ packet: UnsafeRawBufferPointer) throws(AudioFileError)
    /// Completes a file with `frameCount` frames of sound and closes it.
    func close(frameCount: Int) throws(AudioFileError)
}
