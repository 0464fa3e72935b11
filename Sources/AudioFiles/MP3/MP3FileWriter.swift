// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// Writes an MP3 file by LAME and updates its header after every write: if the process is killed, the file plays up to 0.15 s
/// before its last write. From a closed file a player that knows LAME's header gets exactly the frames written (unless they are
/// fewer than one block at 24 kHz or less).
///
/// Rates that MP3 lacks are converted: above 48 kHz to 48 or 44.1 kHz, otherwise to the next higher one. A new file has mode
/// 0600. An existing file is truncated and keeps its mode. For one thread at a time; writes block on the disk, so never use it on
/// a render thread.
public final class MP3FileWriter {
    /// The file's path.
    public let path: String
    /// The format of the frames to write, whose rate may differ from the file's.
    public let format: AudioFormat
    /// The file's sample rate in hertz.
    public let fileSampleRate: Double
    /// The frames written, at the rate of ``format``.
    public private(set) var frameCount = 0

    private let encoder: MP3Encoder
    private var converter: WriteConverter
    private let silence: AudioBuffer
    private let file: AppendingFile
    private var isOpen = true
    private static let blockFrames = 2048

    /// Creates or truncates a file.
    /// - Parameters:
    ///   - format: 1 or 2 channels.
    ///   - bitRate: the bit rate; V2 by default, which few can tell from the original.
    /// - Throws: ``AudioFileError/unsupportedFormat(path:detail:)``, and errors of creating a file.
    public convenience init(
        path: String, format: AudioFormat, bitRate: MP3Encoder.BitRate = .variable(2)
    ) throws(AudioFileError) {
        try self.init(path, format, bitRate, nil)
    }

    /// Starts a stream without LAME's header: players add some 50 ms of silence.
    /// - Throws: ``AudioFileError/unsupportedFormat(path:detail:)``.
    package convenience init(
        _ output: NonSeekableOutput, format: AudioFormat, bitRate: MP3Encoder.BitRate = .variable(2)
    ) throws(AudioFileError) {
        try self.init(output.name, format, bitRate, output)
    }

    private init(
        _ path: String, _ format: AudioFormat, _ bitRate: MP3Encoder.BitRate, _ stream: NonSeekableOutput?
    ) throws(AudioFileError) {
        let rate = Self.fileSampleRate(for: format.sampleRate)
        do {
            encoder = try MP3Encoder(
                sampleRate: rate, channelCount: format.channelCount, bitRate: bitRate, hasHeader: stream == nil)
        } catch { throw .unsupportedFormat(path: path, detail: error.description) }
        file = if let stream { AppendingFile(stream) } else { try AppendingFile(path: path) }
        converter = WriteConverter(from: format, to: rate)
        silence = AudioBuffer(channelCount: format.channelCount, frameCapacity: Self.blockFrames)
        self.path = path
        self.format = format
        fileSampleRate = rate
    }

    deinit { try? close() }

    private static func fileSampleRate(for rate: Double) -> Double {
        if let next = MP3Encoder.sampleRates.first(where: { $0 >= rate }) { return next }
        return rate.truncatingRemainder(dividingBy: 44_100) == 0 ? 44_100 : 48_000
    }

    /// Appends frames.
    /// - Parameters:
    ///   - channels: at least as many channels as ``format`` has; further channels are ignored.
    ///   - offset: the index in `channels` of the first frame to write.
    /// - Throws: disk full, closed, system. The file is then closed, with all that reached the disk.
    public func write(_ channels: Channels, frameCount: Int, offset: Int = 0) throws(AudioFileError) {
        precondition(channels.count >= format.channelCount && frameCount >= 0)
        guard isOpen else { throw .closed(path: path) }
        var done = 0
        while done < frameCount {
            let (consumed, produced) = converter.convert(channels, frameCount - done, offset + done)
            done += consumed
            try encode(produced)
        }
        self.frameCount += frameCount
        // Without the header a reader has to estimate the length of an unfinished file.
        do { try putHeader() } catch { throw abandon(error) }
    }

    /// Appends `frameCount` frames of silence. Throws as ``write(_:frameCount:offset:)`` does.
    public func writeSilence(frameCount: Int) throws(AudioFileError) {
        precondition(frameCount >= 0)
        var done = 0
        while done < frameCount {
            let frames = min(frameCount - done, Self.blockFrames)
            try write(silence.channels, frameCount: frames)
            done += frames
        }
    }

    /// Encodes the converter's output.
    private func encode(_ frames: Int) throws(AudioFileError) {
        try append { () throws(MP3Error) in try encoder.encode(converter.output, frameCount: frames) }
    }

    private func append(_ bytes: () throws(MP3Error) -> UnsafeRawBufferPointer) throws(AudioFileError) {
        let encoded: UnsafeRawBufferPointer
        do { encoded = try bytes() } catch { throw abandon(.encoderFailed(path: path, reason: error.description)) }
        do { try file.append(encoded) } catch { throw abandon(error) }
    }

    /// Writes LAME's header for the frames written so far.
    private func putHeader() throws(AudioFileError) {
        if file.stream == nil { try file.overwrite(encoder.header(), at: 0) }
    }

    /// Closes the file after an error, so that the file plays as far as it was written. Returns `error`.
    private func abandon(_ error: AudioFileError) -> AudioFileError {
        isOpen = false
        try? putHeader()
        try? file.close()
        return error
    }

    /// Writes the remaining frames and LAME's header, and closes the file. A second call does nothing. Releasing the writer
    /// closes it as well.
    public func close() throws(AudioFileError) {
        guard isOpen else { return }
        while case let produced = converter.finish(), produced > 0 { try encode(produced) }
        try append { () throws(MP3Error) in try encoder.flush() }
        isOpen = false
        defer { try? file.close() }
        try putHeader()
        try file.close()
    }
}
