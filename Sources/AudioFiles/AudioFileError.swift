// SPDX-License-Identifier: Apache-2.0

import CEarshotSndfile
import Glibc

/// The reason that a file could not be opened, read or written.
public enum AudioFileError: Error, Equatable, Sendable, CustomStringConvertible {
    /// There is no such file.
    case missing(path: String)
    /// The folder that the file was to be written to does not exist.
    case missingFolder(path: String)
    /// The file's mode, its folder's, or a read-only file system forbids it.
    case notPermitted(path: String)
    /// The path names a folder.
    case directory(path: String)
    /// The path names a pipe, a socket or a device.
    case notRegular(path: String)
    /// Not audio, or of a kind that libsndfile does not read; `reason` is libsndfile's.
    case notAudio(path: String, reason: String)
    /// The rate, in hertz, is outside 8 to 384 kHz.
    case unsupportedSampleRate(path: String, hertz: Int)
    /// The channel count is outside 1 to 32.
    case unsupportedChannelCount(path: String, count: Int)
    /// Reading failed in mid-file; what was read before is good.
    case damaged(path: String, reason: String)
    /// The file's type or source is not seekable.
    case notSeekable(path: String)
    /// The disk, the quota or the process's file size limit is full. What was written before is kept and playable.
    case diskFull(path: String)
    /// The reader of the stream has gone, or stands still.
    case notRead(path: String)
    /// A WAV or AIFF file holds 4 GiB; what was written before is kept and playable.
    case tooLong(path: String)
    /// The kind of file cannot hold such sound; `detail` says what it can.
    case unsupportedFormat(path: String, detail: String)
    /// The encoder failed in mid-file; what was written before is kept and playable.
    case encoderFailed(path: String, reason: String)
    /// Such tags, or tags at all, cannot be written to the file, which is as it was but for tags that `detail` says are there; it
    /// also says why.
    case tagsRefused(path: String, detail: String)
    /// The file's tags have a picture of more than 32 MiB, or something else of more than 64.
    case tagsTooLarge(path: String)
    /// The writer was closed, or stopped by an earlier error.
    case closed(path: String)
    /// Any other failure of the system; `code` is the errno.
    case system(path: String, code: Int32)

    /// One sentence that says what happened.
    public var description: String {
        switch self {
        case .missing(let path) where path.contains("://"): "\(path): an address, where a file is needed"
        case .missing(let path): "\(path): no such file"
        case .missingFolder(let path): "\(path): the folder does not exist"
        case .notPermitted(let path): "\(path): permission denied"
        case .directory(let path): "\(path): is a folder"
        case .notRegular(let path): "\(path): is a pipe, socket or device"
        case .notAudio(let path, let reason): "\(path): not an audio file (\(reason))"
        case .unsupportedSampleRate(let path, let hertz):
            "\(path): a sample rate of \(hertz) Hz is outside 8 to 384 kHz"
        case .unsupportedChannelCount(let path, let count): "\(path): \(count) channels are outside 1 to 32"
        case .damaged(let path, let reason): "\(path): damaged (\(reason))"
        case .notSeekable(let path): "\(path): only plays from its beginning"
        case .diskFull(let path): "\(path): the disk is full (what was written is playable)"
        case .notRead(let path): "\(path): nobody reads it any longer; what was read is whole up to there"
        case .tooLong(let path): "\(path): a file of this kind ends at 4 GiB (what was written is playable)"
        case .unsupportedFormat(let path, let detail): "\(path): \(detail)"
        case .encoderFailed(let path, let reason): "\(path): \(reason); what was written is playable"
        case .tagsRefused(let path, let detail): "\(path): tags cannot be written (\(detail))"
        case .tagsTooLarge(let path): "\(path): its tags are larger than is read"
        case .closed(let path): "\(path): is closed already"
        case .system(let path, let code): "\(path): \(Self.message(code))"
        }
    }

    private static func message(_ code: Int32) -> String {
        guard let text = strerror(code) else { return "error \(code)" }
        return String(cString: text)
    }

    /// Returns the error for tags of which fields with unsuitable names were left out and all others written.
    package static func tagsLeftOut(_ names: [String], path: String) -> AudioFileError {
        // A file's names of its fields may be of any length and move a terminal's cursor.
        let shown = names.prefix(3).map { name in
            let plain = name.unicodeScalars.prefix(40).map { scalar in
                [.control, .format].contains(scalar.properties.generalCategory) ? "?" : String(scalar)
            }
            return "\"\(plain.joined())\""
        }
        let list = shown.joined(separator: ", ") + (names.count > 3 ? " and \(names.count - 3) more" : "")
        return .tagsRefused(
            path: path, detail: "names are of plain letters without =, not \(list); all others are there")
    }

    /// The error for an errno that opening or writing `path` gave.
    package static func from(errno code: Int32, path: String, creating: Bool = false) -> AudioFileError {
        switch code {
        case ENOENT, ENOTDIR: creating ? .missingFolder(path: path) : .missing(path: path)
        case EACCES, EPERM, EROFS, ETXTBSY: .notPermitted(path: path)
        case EISDIR: .directory(path: path)
        case ENXIO, ENODEV: .notRegular(path: path)
        case EPIPE: .notRead(path: path)
        case ENOSPC, EDQUOT, EFBIG: .diskFull(path: path)
        default: .system(path: path, code: code)
        }
    }

    /// libsndfile's own words about a file, or about the last failed open where `file` is nil.
    static func reason(_ file: OpaquePointer?) -> String {
        guard let text = sf_strerror(file) else { return "unknown" }
        return String(cString: text)
    }
}
