// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

/// Prints text for the user to standard error, and data to standard output.
enum Terminal {
    static let isInteractive = isatty(FileHandle.standardError.fileDescriptor) == 1
    private static let allowsColour =
        ProcessInfo.processInfo.environment["NO_COLOR"] == nil
        && ProcessInfo.processInfo.environment["TERM"] != "dumb"
    /// True if events are printed as sentences for a screen reader, and nothing is redrawn or coloured. Set before a command
    /// runs.
    nonisolated(unsafe) static var isPlain = false  // written once, before there is a second thread
    /// True if standard error has a live line, which is redrawn in place.
    static var redraws: Bool { isInteractive && !isPlain }
    static var hasColour: Bool { isInteractive && allowsColour && !isPlain }
    /// True if text on standard output may have colours.
    static var outputHasColour: Bool { isatty(STDOUT_FILENO) == 1 && allowsColour && !isPlain }
    /// The columns of the terminal on standard output; 80 if standard output is not a terminal.
    static var outputWidth: Int {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }

    /// Prints a line to standard error.
    static func say(_ line: String) {
        write(clear + TerminalText.sanitizedLines(line) + "\n")
    }

    /// The live line that the terminal shows; nil if something else was printed after it.
    private static let liveLine = Mutex<String?>(nil)

    /// Redraws the live line, the last line of the terminal, unless it is already shown. Does nothing if ``redraws`` is false.
    static func live(_ line: String) {
        guard redraws else { return }
        liveLine.withLock { shown in
            guard shown != line else { return }
            put(clear + line)
            shown = line
        }
    }

    /// Writes to standard error; ignores errors, because a closed terminal is no reason to end a call.
    private static func write(_ text: String) {
        liveLine.withLock { shown in
            put(text)
            shown = nil
        }
    }

    private static func put(_ text: String) {
        let bytes = Array(text.utf8)
        _ = Foundation.write(STDERR_FILENO, bytes, bytes.count)
    }

    /// Writes text to standard output.
    /// - Throws: if that fails.
    static func output(_ text: String) throws { try output(Data(text.utf8)) }

    /// Writes bytes to standard output.
    /// - Throws: if that fails.
    static func output(_ bytes: Data) throws {
        liveLine.withLock { $0 = nil }
        var rest = bytes
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Foundation.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            if count < 0, errno == EPIPE { throw ExitCodes.closedPipe }
            guard count > 0 else {
                throw Failure(
                    "Cannot write to standard output: \(String(cString: strerror(errno))).",
                    status: Failure.cannotCreate)
            }
            rest = rest.dropFirst(count)
        }
    }

    /// Returns true if standard output accepts bytes without waiting, or would report an error at once.
    static var canOutput: Bool {
        var descriptor = pollfd(fd: STDOUT_FILENO, events: Int16(POLLOUT), revents: 0)
        return poll(&descriptor, 1, 0) > 0
    }

    /// Returns true if standard output is a pipe without a reader.
    static var isOutputClosed: Bool {
        var descriptor = pollfd(fd: STDOUT_FILENO, events: 0, revents: 0)
        return poll(&descriptor, 1, 0) > 0 && descriptor.revents & Int16(POLLERR) != 0
    }

    /// Prints the reason that the command ends.
    static func error(_ line: String) {
        say(label: "error:", "1;31", line)
    }

    /// Prints a warning.
    static func warn(_ line: String) { say(label: "warning:", "1;33", line) }

    /// Prints a question to the user, in bold if the terminal has colours.
    static func notice(_ line: String) {
        let text = TerminalText.sanitizedLines(line)
        write(clear + (hasColour ? "\u{1B}[1m\(text)\u{1B}[0m" : text) + "\n")
    }

    private static func say(label: String, _ colour: String, _ line: String) {
        let label = hasColour ? "\u{1B}[\(colour)m\(label)\u{1B}[0m" : label
        write("\(clear)\(label) \(TerminalText.sanitizedLines(line))\n")
    }

    /// The control sequence that erases the live line, also where a narrower terminal has wrapped the line.
    private static var clear: String { redraws ? "\r\u{1B}[J" : "" }
}
