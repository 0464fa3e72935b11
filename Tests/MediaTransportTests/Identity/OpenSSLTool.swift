// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport

/// The `openssl` program as an independent check, with its own folder for files.
final class OpenSSLTool: Sendable {
    let folder: String

    init() throws {
        folder = "\(NSTemporaryDirectory())earshot-openssl-\(UUID().uuidString)"
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    /// Writes a file and returns its path.
    func file(_ name: String, _ bytes: some Sequence<UInt8>) throws -> String {
        try Data(bytes).write(to: URL(filePath: "\(folder)/\(name)"))
        return "\(folder)/\(name)"
    }

    /// Returns the text of the file that it writes, see ``made(_:)``.
    func text(_ command: String) throws -> String { String(decoding: try made(command), as: UTF8.self) }

    /// Runs a command, split at spaces. Returns its status and its output, errors last.
    func run(_ command: String) throws -> (status: Int32, output: String) {
        let result = try ChildProcess.run(["openssl"] + command.split(separator: " ").map(String.init), seconds: 20)
        return (result.status, result.output + result.errors)
    }

    /// Returns the file that it writes; `OUT` in the command stands for its path.
    func made(_ command: String) throws -> [UInt8] {
        let path = "\(folder)/made-\(UUID().uuidString)"
        let result = try run(command.replacing("OUT", with: path))
        struct Failed: Error { var output: String }
        guard result.status == 0, let data = FileManager.default.contents(atPath: path) else {
            throw Failed(output: result.output)
        }
        return Array(data)
    }
}
