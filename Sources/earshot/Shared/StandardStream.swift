// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Standard input or output in place of a file, written `-` on the command line. Sound files need seeking, which pipes do not
/// support, so a private temporary file stores the data.
enum StandardStream {
    static let name = "-"

    /// A temporary file that is deleted when released.
    final class Spool {
        let path: String
        private let descriptor: CInt

        init() throws {
            let folder = ProcessInfo.processInfo.environment["TMPDIR"] ?? "/tmp"
            var template = Array("\(folder)/earshot-XXXXXX".utf8CString)
            descriptor = mkstemp(&template)
            path = template.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
            guard descriptor >= 0 else {
                throw Failure(
                    "\(folder): cannot create a temporary file there (\(String(cString: strerror(errno)))). Set TMPDIR to another folder.",
                    status: Failure.cannotCreate)
            }
        }

        deinit {
            close(descriptor)
            unlink(path)
        }

        /// Copies standard input to the temporary file until the input ends.
        /// - Parameter prefix: the bytes of standard input that were already read.
        func fill(after prefix: [UInt8] = []) throws {
            try write(prefix[...])
            while case let bytes = try StandardStream.read(atMost: 1 << 16), !bytes.isEmpty { try write(bytes[...]) }
        }

        private func write(_ bytes: ArraySlice<UInt8>) throws {
            var rest = bytes
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
                if count < 0, errno == EINTR { continue }
                guard count > 0 else {
                    throw Failure(
                        "\(path): \(String(cString: strerror(errno))). Set TMPDIR to a folder with more space.",
                        status: Failure.cannotCreate)
                }
                rest = rest.dropFirst(count)
            }
        }
    }

    /// Waits for bytes of standard input and returns them; an empty array at the input's end.
    static func read(atMost count: Int) throws -> [UInt8] {
        guard isatty(STDIN_FILENO) == 0 else {
            throw Failure(
                "Standard input is a terminal. Use a pipe or a file: earshot … - < FILE", status: Failure.usage)
        }
        var bytes = [UInt8](repeating: 0, count: count)
        while true {
            // The time limit of poll() lets the loop notice Ctrl-C. A plain read would continue after Ctrl-C.
            var input = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
            if poll(&input, 1, 100) == 0, !Interrupt.isRequested { continue }
            let readCount = Interrupt.isRequested ? 0 : Foundation.read(STDIN_FILENO, &bytes, count)
            if readCount < 0, errno == EINTR, !Interrupt.isRequested { continue }
            if Interrupt.isRequested { throw ExitCodes.interrupted }
            guard readCount >= 0 else {
                throw Failure("standard input: \(String(cString: strerror(errno)))", status: Failure.noInput)
            }
            return Array(bytes[..<readCount])
        }
    }

    /// True if standard input is a file at its beginning, so that the file can be opened by name and is seekable.
    static var isFile: Bool {
        var information = stat()
        return fstat(STDIN_FILENO, &information) == 0 && information.st_mode & S_IFMT == S_IFREG
            && lseek(STDIN_FILENO, 0, SEEK_CUR) == 0
    }

    /// Returns the first bytes of standard input; fewer if it ends earlier.
    static func prefix(_ count: Int) throws -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count, case let more = try read(atMost: count - bytes.count), !more.isEmpty {
            bytes += more
        }
        return bytes
    }

    /// Throws if standard output is a terminal, to which sound is garbage.
    /// - Parameter example: the correct command line.
    static func checkOutput(_ example: String) throws {
        if isatty(STDOUT_FILENO) == 1 {
            throw Failure(
                "Standard output is a terminal. Use a pipe or a file: \(example)", status: Failure.usage)
        }
    }

    /// Copies a file to standard output.
    static func give(_ path: String) throws {
        guard let file = FileHandle(forReadingAtPath: path) else {
            throw Failure("\(path): cannot be read again", status: Failure.noInput)
        }
        defer { try? file.close() }
        while let data = try file.read(upToCount: 1 << 16), !data.isEmpty { try Terminal.output(data) }
    }
}
