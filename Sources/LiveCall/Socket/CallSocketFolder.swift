// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The folder with the sockets of a user's calls: `earshot/call-PID.sock` in the user's runtime folder.
package struct CallSocketFolder: Sendable {
    package let path: String

    package init(path: String) { self.path = path }

    /// Creates the folder in `$XDG_RUNTIME_DIR`, or in `/run/user/UID`; nil if neither is a folder of this user. Nothing is
    /// written.
    package init?(environment: [String: String] = ProcessInfo.processInfo.environment) {
        let named = environment["XDG_RUNTIME_DIR"].flatMap { $0.hasPrefix("/") ? $0 : nil }
        let candidates = [named, "/run/user/\(geteuid())"].compactMap { $0 }
        guard let runtimeFolder = candidates.first(where: { Self.isOwnFolder($0) }) else { return nil }
        path = "\(runtimeFolder)/earshot"
    }

    private static func isOwnFolder(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR && status.st_uid == geteuid()
    }

    /// Returns the path of the socket of a process's call.
    package func path(of pid: Int32) -> String { "\(path)/call-\(pid).sock" }

    /// The processes with a socket, in ascending order. A socket may be left over from a process that was killed.
    package var pids: [Int32] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        return names.compactMap { name -> Int32? in
            guard name.hasPrefix("call-"), name.hasSuffix(".sock") else { return nil }
            guard let pid = Int32(name.dropFirst(5).dropLast(5)), pid > 0 else { return nil }
            return "call-\(pid).sock" == name ? pid : nil
        }.sorted()
    }

    /// Creates the folder with mode 0700.
    func make() throws(CallSocketError) {
        if mkdir(path, 0o700) != 0, errno != EEXIST { throw .system(path: path, code: errno) }
        var status = stat()
        guard lstat(path, &status) == 0 else { throw .system(path: path, code: errno) }
        // A link may point to a folder that others can change.
        guard status.st_mode & S_IFMT == S_IFDIR, status.st_uid == geteuid() else { throw .foreignFolder(path) }
        guard status.st_mode & 0o077 == 0 || chmod(path, 0o700) == 0 else { throw .system(path: path, code: errno) }
    }

    /// Removes the sockets of processes that have ended.
    func removeStaleSockets() {
        // A process number is no proof: a container has its own numbers, and another process may have the number by now.
        for pid in pids where !UnixSocket.isListening(at: path(of: pid)) { unlink(path(of: pid)) }
    }
}
