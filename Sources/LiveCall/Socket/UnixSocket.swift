// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The system calls of stream sockets in the file system. No descriptor is inherited by other programs.
enum UnixSocket {
    private static let socketType = CInt(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
    /// The connections that wait to be accepted.
    private static let backlog: CInt = 8

    /// Creates a socket of mode 0600 that listens at a path. A file at the path is replaced.
    ///
    /// The socket gets its name when it listens. So a socket that refuses a connection is left over from a process that ended.
    static func listen(at path: String) throws(CallSocketError) -> CInt {
        let newPath = path + ".new"
        let descriptor = try open(newPath)
        unlink(newPath)
        let code = withAddress(newPath) { Glibc.bind(descriptor, $0, $1) == 0 ? 0 : errno }
        guard code == 0, chmod(newPath, 0o600) == 0, Glibc.listen(descriptor, backlog) == 0,
            rename(newPath, path) == 0
        else {
            let code = code == 0 ? errno : code
            unlink(newPath)
            close(descriptor)
            throw .system(path: path, code: code)
        }
        return descriptor
    }

    /// Returns false if no process listens at a path.
    static func isListening(at path: String) -> Bool {
        do throws(CallSocketError) {
            close(try connect(to: path))
            return true
        } catch {
            return error != .notRunning
        }
    }

    /// Connects to the socket at a path.
    /// - Throws: ``CallSocketError/noAnswer`` if too many clients wait, and ``CallSocketError/notACall`` if another user listens.
    static func connect(to path: String) throws(CallSocketError) -> CInt {
        let descriptor = try open(path)
        let code = withAddress(path) { Glibc.connect(descriptor, $0, $1) == 0 ? 0 : errno }
        guard code == 0 else {
            close(descriptor)
            switch code {
            case ENOENT, ECONNREFUSED: throw .notRunning
            case EAGAIN: throw .noAnswer
            default: throw .system(path: path, code: code)
            }
        }
        guard user(of: descriptor) == geteuid() else {
            close(descriptor)
            throw .notACall
        }
        return descriptor
    }

    private static func open(_ path: String) throws(CallSocketError) -> CInt {
        guard path.utf8.count < MemoryLayout.size(ofValue: sockaddr_un().sun_path) else { throw .pathTooLong(path) }
        let descriptor = socket(AF_UNIX, socketType, 0)
        guard descriptor >= 0 else { throw .system(path: path, code: errno) }
        return descriptor
    }

    private static func withAddress(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> CInt) -> CInt {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
        return withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }

    /// Accepts a connection. Returns its descriptor, or a negative errno.
    static func accept(_ listener: CInt) -> CInt {
        let descriptor = Glibc.accept(listener, nil, nil)
        guard descriptor >= 0 else { return -errno }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        return descriptor
    }

    /// Returns the user of the process at the other end; nil if the system does not state it.
    static func user(of descriptor: CInt) -> uid_t? {
        // The fields of `struct ucred`, which glibc declares for GNU sources only.
        var credentials = (process: pid_t(0), user: uid_t(0), group: gid_t(0))
        var size = socklen_t(MemoryLayout.size(ofValue: credentials))
        guard getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &size) == 0 else { return nil }
        return credentials.user
    }

    /// Returns the number of received bytes, 0 at the end, or a negative errno. Does not block.
    static func receive(from descriptor: CInt, into bytes: inout [UInt8]) -> Int {
        let count = bytes.withUnsafeMutableBytes { recv(descriptor, $0.baseAddress, $0.count, 0) }
        return count < 0 ? -Int(errno) : count
    }

    /// Returns the number of sent bytes, or a negative errno. Does not block.
    static func send(_ bytes: [UInt8], to descriptor: CInt) -> Int {
        let count = bytes.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL)) }
        return count < 0 ? -Int(errno) : count
    }

    /// Returns true for the negative errno of a call that succeeds later.
    static func isTemporary(_ result: Int) -> Bool { result == -Int(EAGAIN) || result == -Int(EINTR) }

    static func close(_ descriptor: CInt) { _ = Glibc.close(descriptor) }
}
