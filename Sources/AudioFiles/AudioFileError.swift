// SPDX-License-Identifier: Apache-2.0

import CEarshotSndfile
import Glibc

/// The reason that a file could not be opened, read or written.
public enum AudioFileError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The file does not exist.
    case missing(path: String)
    /// The folder of the new file does not exist.
    case missingFolder(path: String)
    /// The mode of the file or its folder, or a read-only file system, forbids it.
    case notPermitted(path: String)
    /// The path names a folder.
    case directory(path: String)
    /// The path names a pipe, a socket or a device.
    case notRegular(path: String)
    /// The file is not audio, or has a format that libsndfile does not read; `reason` is libsndfile's message.
    case notAudio(path: String, reason: String)
    /// The rate, in hertz, is outside 8 to 384 kHz.
    case unsupportedSampleRate(path: String, hertz: Int)
    /// The channel count is outside 1 to 32.
    case unsupportedChannelCount(path: String, count: Int)
    /// Reading failed in the middle; the frames read before are valid.
    case damaged(path: String, reason: String)
    /// The file's type or source is not seekable.
    case notSeekable(path: String)
    /// The disk is full, or the quota or the process's file size limit is reached. The frames written before are kept and
    /// playable.
    case diskFull(path: String)
    /// The reader of a written stream has closed the stream, or reads nothing from it.
    case notRead(path: String)
    /// The file would exceed 4 GiB, the maximum of WAV and AIFF; the frames written before are kept and playable.
    case tooLong(path: String)
    /// The file format cannot hold this sound; `detail` says what it can hold.
    case unsupportedFormat(path: String, detail: String)
    /// The encoder failed; the frames written before are kept and playable.
    case encoderFailed(path: String, reason: String)
    /// Tags cannot be written; `detail` has the reason. If `detail` lists names, all other tags were written; otherwise none was.
    case tagsRefused(path: String, detail: String)
    /// The file's tags have a picture of more than 32 MiB, or another item of more than 64 MiB.
    case tagsTooLarge(path: String)
    /// The writer is closed, or stopped after an error.
    case closed(path: String)
    /// Another system error; `code` is an errno.
    case system(path: String, code: Int32)

    /// One sentence that says what happened.
    public var description: String {
        switch self {
        case .missing(let path) where path.contains("://"): "\(path): an address, not a file"
        case .missing(let path): "\(path): no such file"
        case .missingFolder(let path): "\(path): the folder does not exist"
        case .notPermitted(let path): "\(path): permission denied"
        case .directory(let path): "\(path): is a folder"
        case .notRegular(let path): "\(path): is a pipe, socket or device"
        case .notAudio(let path, let reason): "\(path): not an audio file (\(reason))"
        case .unsupportedSampleRate(let path, let hertz):
            "\(path): its sample rate is \(hertz) Hz, but must be 8 to 384 kHz"
        case .unsupportedChannelCount(let path, let count): "\(path): it has \(count) channels, but must have 1 to 32"
        case .damaged(let path, let reason): "\(path): damaged (\(reason))"
        case .notSeekable(let path): "\(path): only plays from its beginning"
        case .diskFull(let path): "\(path): the disk is full (the written part is playable)"
        case .notRead(let path): "\(path): its reader is gone; the data up to there is complete"
        case .tooLong(let path): "\(path): a file of this kind ends at 4 GiB (the written part is playable)"
        case .unsupportedFormat(let path, let detail): "\(path): \(detail)"
        case .encoderFailed(let path, let reason): "\(path): \(reason); the written part is playable"
        case .tagsRefused(let path, let detail): "\(path): tags cannot be written (\(detail))"
        case .tagsTooLarge(let path): "\(path): its tags are too large to read"
        case .closed(let path): "\(path): already closed"
        case .system(let path, let code): "\(path): \(Self.message(code))"
        }
    }

    private static func message(_ code: Int32) -> String {
        strerror(code).map { plain(String(cString: $0)) } ?? "error \(code)"
    }

    /// Returns a library's message without "Error : " before it and a full stop after it.
    private static func plain(_ message: String) -> String {
        let line = message.hasPrefix("Error : ") ? String(message.dropFirst(8)) : message
        return line.hasSuffix(".") ? String(line.dropLast()) : line
    }

    /// Returns the error for tags that were written except for fields with unsuitable names.
    package static func tagsLeftOut(_ names: [String], path: String) -> AudioFileError {
        // Field names in a file may be of any length and contain escape sequences.
        let shown = names.prefix(3).map { name in
            let plain = name.unicodeScalars.prefix(40).map { scalar in
                [.control, .format].contains(scalar.properties.generalCategory) ? "?" : String(scalar)
            }
            return "\"\(plain.joined())\""
        }
        let list = shown.joined(separator: ", ") + (names.count > 3 ? " and \(names.count - 3) more" : "")
        return .tagsRefused(
            path: path, detail: "tag names are ASCII without =, not \(list); all other tags were written")
    }

    /// Returns the error for an errno of opening or writing `path`.
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

    /// Returns libsndfile's message about a file, or about the last failed open if `file` is nil.
    static func reason(_ file: OpaquePointer?) -> String {
        sf_strerror(file).map { plain(String(cString: $0)) } ?? "unknown"
    }
}
