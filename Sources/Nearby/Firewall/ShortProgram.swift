// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A program that is run for its output, with a time limit.
struct Subprocess {
    private let arguments: [String]
    private static let maximumOutputSize = 4 << 20

    init(_ arguments: [String]) { self.arguments = arguments }

    /// Runs the program and returns its output; nil if the program could not be started, failed, printed too much or took too
    /// long.
    func output(within seconds: Double) -> String? {
        // Unsafe in this file: C structures that are initialized before use, arguments that are freed after the call.
        var pipeEnds: [Int32] = [-1, -1]
        guard unsafe pipe(&pipeEnds) == 0 else { return nil }
        for end in pipeEnds { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        defer { close(pipeEnds[0]) }
        guard let pid = spawn(output: pipeEnds[1]) else {
            close(pipeEnds[1])
            return nil
        }
        close(pipeEnds[1])
        let bytes = read(pipeEnds[0], until: DispatchTime.now() + seconds)
        if bytes == nil { kill(pid, SIGKILL) }
        var status: Int32 = 0
        while unsafe waitpid(pid, &status, 0) < 0, errno == EINTR {}
        return status == 0 ? bytes.map { String(decoding: $0, as: UTF8.self) } : nil
    }

    private func read(_ descriptor: Int32, until deadline: DispatchTime) -> [UInt8]? {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while bytes.count <= Self.maximumOutputSize {
            let now = DispatchTime.now()
            guard now < deadline else { return nil }
            var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let wait = (deadline.uptimeNanoseconds - now.uptimeNanoseconds) / 1_000_000
            guard unsafe poll(&ready, 1, Int32(wait) + 1) > 0 else { continue }
            let count = unsafe Foundation.read(descriptor, &chunk, chunk.count)
            if count == 0 { return bytes }
            if count > 0 { bytes += chunk[..<count] } else if errno != EINTR { return nil }
        }
        return nil
    }

    private func spawn(output: Int32) -> pid_t? {
        var files = unsafe posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        unsafe posix_spawn_file_actions_init(&files)
        unsafe posix_spawnattr_init(&attributes)
        defer {
            unsafe posix_spawn_file_actions_destroy(&files)
            unsafe posix_spawnattr_destroy(&attributes)
        }
        unsafe posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0)
        unsafe posix_spawn_file_actions_adddup2(&files, output, 1)
        unsafe posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0)
        // No signal is blocked: the program must not inherit the signals that this process blocks.
        var noSignals = sigset_t()
        unsafe sigemptyset(&noSignals)
        unsafe posix_spawnattr_setsigmask(&attributes, &noSignals)
        unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        var argv = unsafe arguments.map { unsafe strdup($0) } + [nil]
        var environment: [UnsafeMutablePointer<CChar>?] = unsafe [strdup("PATH=/usr/sbin:/usr/bin:/sbin:/bin"), nil]
        defer { unsafe (argv + environment).forEach { unsafe free($0) } }
        var pid: pid_t = 0
        return unsafe posix_spawn(&pid, arguments[0], &files, &attributes, &argv, &environment) == 0 ? pid : nil
    }
}
