import AudioBase

/// A file that sound is written to, whatever its kind: ``AudioFileWriter`` or ``MP3FileWriter``.
///
/// One thread at a time; writing waits for the disk, so never on a render thread.
public protocol SoundFileWriter: AnyObject {
    /// What is written.
    var format: AudioFormat { get }
    /// Frames written.
    var frameCount: Int { get }
    /// Appends frames of at least as many channels as the format has. After an error the file is closed, and plays.
    func write(_ channels: Channels, frameCount: Int, offset: Int) throws(AudioFileError)
    /// Appends silence. Throws as ``write(_:frameCount:offset:)`` does.
    func writeSilence(frameCount: Int) throws(AudioFileError)
    /// Closes the file; again does nothing.
    func close() throws(AudioFileError)
}

extension AudioFileWriter: SoundFileWriter {}
extension MP3FileWriter: SoundFileWriter {}

/// Makes the writer that fits a file's name.
public enum SoundFileWriters {
    /// Creates or empties a file: MP3 where the path ends in `.mp3`, otherwise WAV.
    /// - Parameters:
    ///   - sampleFormat: of a WAV file.
    ///   - bitRate: of an MP3 file.
    /// - Throws: as ``AudioFileWriter/init(path:format:sampleFormat:)`` or ``MP3FileWriter/init(path:format:bitRate:)``.
    public static func make(
        path: String, format: AudioFormat, sampleFormat: AudioFileWriter.SampleFormat = .float32,
        bitRate: MP3Encoder.BitRate = .variable(2)
    ) throws(AudioFileError) -> any SoundFileWriter {
        path.lowercased().hasSuffix(".mp3")
            ? try MP3FileWriter(path: path, format: format, bitRate: bitRate)
            : try AudioFileWriter(path: path, format: format, sampleFormat: sampleFormat)
    }
}
