import AudioBase
import AudioFiles
import Foundation

/// The file that `render` writes: MP3 where its name says so, else WAV.
enum RenderOutput {
    case wav(AudioFileWriter)
    case mp3(MP3FileWriter)

    static let extensions = ["wav", "wave", "mp3"]

    /// - Throws: whatever is in the way, as what could not be created.
    init(path: String, format: AudioFormat) throws {
        self = try Failure.creating {
            Self.isMP3(path)
                ? .mp3(try MP3FileWriter(path: path, format: format))
                : .wav(try AudioFileWriter(path: path, format: format))
        }
    }

    private static func isMP3(_ path: String) -> Bool { pathExtension(path) == "mp3" }

    /// Such as /dev/null, for measuring.
    static func isDevice(_ path: String) -> Bool { path.hasPrefix("/dev/") }

    static func pathExtension(_ path: String) -> String {
        URL(fileURLWithPath: path).pathExtension.lowercased()
    }

    /// Hertz of the file: MP3 has not every rate.
    var fileSampleRate: Double {
        switch self {
        case .wav(let writer): writer.format.sampleRate
        case .mp3(let writer): writer.fileSampleRate
        }
    }

    func write(_ channels: Channels, frameCount: Int) throws {
        switch self {
        case .wav(let writer): try writer.write(channels, frameCount: frameCount)
        case .mp3(let writer): try writer.write(channels, frameCount: frameCount)
        }
    }

    func close() throws {
        switch self {
        case .wav(let writer): try writer.close()
        case .mp3(let writer): try writer.close()
        }
    }

    /// Whether two paths are one file, by whatever names.
    static func isSame(_ a: String, _ b: String) -> Bool {
        var one = stat()
        var other = stat()
        guard stat(a, &one) == 0, stat(b, &other) == 0 else { return false }
        return one.st_dev == other.st_dev && one.st_ino == other.st_ino && one.st_mode & S_IFMT == S_IFREG
    }
}
