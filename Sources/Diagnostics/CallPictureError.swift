// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The reason that no picture was created.
package enum CallPictureError: Error, Equatable, Sendable, CustomStringConvertible {
    /// There is no sound to show.
    case nothingToShow
    /// The file could not be written; `code` is the errno.
    case notWritten(path: String, code: Int32)
    /// Cairo failed, usually for lack of memory; `reason` is Cairo's message.
    case notDrawn(reason: String)

    /// One sentence that says what happened.
    package var description: String {
        switch self {
        case .nothingToShow: "there is no sound to show"
        case .notWritten(let path, let code):
            "\(path): \(strerror(code).map { String(cString: $0) } ?? "error \(code)")"
        case .notDrawn(let reason): "the picture could not be drawn (\(reason))"
        }
    }
}
