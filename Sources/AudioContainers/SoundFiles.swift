import AudioBase
import AudioFiles

/// Sound files of any kind.
public enum SoundFiles {
    /// Opens a file for reading, by its content; its name says nothing.
    /// - Throws: what opening can: missing, not permitted, a folder, not a plain file, not audio, an unsupported format.
    public static func open(_ path: String) throws(AudioFileError) -> any SoundFileReader {
        let file = try FileBytes(path: path)
        let isOurs = try MovieScanner.recognises(file) || ADTSScanner.recognises(file)
        return isOurs ? try ContainerFileReader(file) : try AudioFileReader(path: path)
    }
}
