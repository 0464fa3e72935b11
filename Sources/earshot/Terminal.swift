import Foundation

/// Where the person looks: standard error, a terminal or not.
enum Terminal {
    static let isInteractive = isatty(FileHandle.standardError.fileDescriptor) == 1
    private static let hasColour =
        isInteractive && ProcessInfo.processInfo.environment["NO_COLOR"] == nil
        && ProcessInfo.processInfo.environment["TERM"] != "dumb"

    /// One line to standard error.
    static func say(_ line: String) {
        FileHandle.standardError.write(Data((clear + line + "\n").utf8))
    }

    /// Replaces the live line; on a terminal only.
    static func live(_ line: String) {
        guard isInteractive else { return }
        FileHandle.standardError.write(Data((clear + line).utf8))
    }

    static func warn(_ line: String) { say(hasColour ? "\u{1B}[33m\(line)\u{1B}[0m" : line) }

    private static var clear: String { isInteractive ? "\r\u{1B}[2K" : "" }
}
