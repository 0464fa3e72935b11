import AudioBase

/// A file that sound is written to, whatever its kind: ``AudioFileWriter``, ``MP3FileWriter``, or a writer of a layer
/// above.
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
    /// Creates or empties a file of the kind that the path's ending asks for (``AudioFileType/init(fileName:)``); RF64, which is
    /// WAV up to 4 GiB, where it asks for nothing.
    /// - Parameters:
    ///   - sampleFormat: of a file without loss; FLAC takes 24 bits for ``AudioFileWriter/SampleFormat/float32``.
    ///   - bitRate: of one with loss; nil is what suits the kind: V2 for MP3.
    ///   - compressionLevel: of FLAC, 0 to 8.
    /// - Throws: as ``AudioFileWriter/init(path:format:type:sampleFormat:bitRate:compressionLevel:)`` or
    ///   ``MP3FileWriter/init(path:format:bitRate:)``.
    public static func make(
        path: String, format: AudioFormat, sampleFormat: AudioFileWriter.SampleFormat = .float32,
        bitRate: MP3Encoder.BitRate? = nil, compressionLevel: Int = 5
    ) throws(AudioFileError) -> any SoundFileWriter {
        AudioFileType(fileName: path) == .mp3
            ? try MP3FileWriter(path: path, format: format, bitRate: bitRate ?? .variable(2))
            : try AudioFileWriter(
                path: path, format: format, sampleFormat: sampleFormat, bitRate: bitRate,
                compressionLevel: compressionLevel)
    }
}
