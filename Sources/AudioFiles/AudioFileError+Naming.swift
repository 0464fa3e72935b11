// SPDX-License-Identifier: Apache-2.0

extension AudioFileError {
    /// Returns the error with `path`, which the user named, in place of `partial`, the path of a temporary file.
    package func named(_ path: String, insteadOf partial: String) -> AudioFileError {
        switch self {
        case .missingFolder(partial): .missingFolder(path: path)
        case .notPermitted(partial): .notPermitted(path: path)
        case .diskFull(partial): .diskFull(path: path)
        case .tooLong(partial): .tooLong(path: path)
        case .unsupportedFormat(partial, let detail): .unsupportedFormat(path: path, detail: detail)
        case .encoderFailed(partial, let reason): .encoderFailed(path: path, reason: reason)
        case .tagsRefused(partial, let detail): .tagsRefused(path: path, detail: detail)
        case .damaged(partial, let reason): .damaged(path: path, reason: reason)
        case .system(partial, let code): .system(path: path, code: code)
        default: self
        }
    }
}
