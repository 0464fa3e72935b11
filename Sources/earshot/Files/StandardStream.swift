import Foundation

/// Standard input and output in the place of a file, written `-`. Sound files are gone about in, which a pipe does not allow, so
/// both go by a temporary file, which only this user can read.
enum StandardStream {
    static let name = "-"

    /// A temporary file, gone with this object.
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
                    "\(folder): no temporary file can be made there (\(String(cString: strerror(errno)))); set TMPDIR to a folder of yours",
                    status: Failure.cannotCreate)
            }
        }

        deinit {
            close(descriptor)
            unlink(path)
        }

        /// Takes all of standard input.
        func fill() throws {
            guard isatty(STDIN_FILENO) == 0 else {
                throw Failure(
                    "standard input is a terminal; give - a pipe or a file: earshot … - < FILE", status: Failure.usage)
            }
            var bytes = [UInt8](repeating: 0, count: 1 << 16)
            while true {
                let count = read(STDIN_FILENO, &bytes, bytes.count)
                if count < 0, errno == EINTR, !Interrupt.isRequested { continue }
                if Interrupt.isRequested { throw ExitCodes.interrupted }
                guard count >= 0 else {
                    throw Failure("standard input: \(String(cString: strerror(errno)))", status: Failure.noInput)
                }
                if count == 0 { return }
                try write(bytes[..<count])
            }
        }

        private func write(_ bytes: ArraySlice<UInt8>) throws {
            var rest = bytes
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
                if count < 0, errno == EINTR { continue }
                guard count > 0 else {
                    throw Failure(
                        "\(path): \(String(cString: strerror(errno))); set TMPDIR to a folder with more room",
                        status: Failure.cannotCreate)
                }
                rest = rest.dropFirst(count)
            }
        }
    }

    /// A file to standard output, whole.
    static func give(_ path: String) throws {
        guard let file = FileHandle(forReadingAtPath: path) else {
            throw Failure("\(path): cannot be read again", status: Failure.noInput)
        }
        defer { try? file.close() }
        while let data = try file.read(upToCount: 1 << 16), !data.isEmpty { try Terminal.output(data) }
    }
}
