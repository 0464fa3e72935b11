// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

/// A terminal for a program, with the test as its user.
public final class PseudoTerminal: Sendable {
    /// The path for the program.
    public let path: String
    private let master: Int32
    private let shown = Mutex<[UInt8]>([])
    private let isReading = Atomic(true)

    /// - Throws: if the system has no more of them.
    public init() throws {
        master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        var (number, isLocked): (Int32, Int32) = (0, 0)
        // TIOCSPTLCK and TIOCGPTN, which Swift does not import.
        guard master >= 0, ioctl(master, 0x4004_5431, &isLocked) == 0, ioctl(master, 0x8004_5430, &number) == 0 else {
            throw ChildProcess.StartError(description: "no pseudo-terminal (errno \(errno))")
        }
        path = "/dev/pts/\(number)"
        let reader = Thread { [weak self, master] in
            var bytes = [UInt8](repeating: 0, count: 4_096)
            while self?.isReading.load(ordering: .relaxed) == true {
                var ready = pollfd(fd: master, events: Int16(POLLIN), revents: 0)
                guard poll(&ready, 1, 20) > 0 else { continue }
                let count = read(master, &bytes, bytes.count)
                if count > 0 { self?.shown.withLock { $0 += bytes[..<count] } } else { usleep(10_000) }
            }
            close(master)
        }
        reader.start()
    }

    deinit { isReading.store(false, ordering: .relaxed) }

    /// Presses keys.
    public func type(_ keys: String) {
        let bytes = Array(keys.utf8)
        _ = write(master, bytes, bytes.count)
    }

    /// Everything that was written to it.
    public var text: String { shown.withLock { String(decoding: $0, as: UTF8.self) } }

    /// True if it delivers lines with an echo, as for a shell, instead of single keys.
    public var isInLineMode: Bool {
        var mode = termios()
        return tcgetattr(master, &mode) == 0 && mode.c_lflag & tcflag_t(ICANON | ECHO) == tcflag_t(ICANON | ECHO)
    }

    /// Waits until ``isInLineMode`` has this value; false after five seconds.
    public func waits(forLineMode wanted: Bool) -> Bool {
        for _ in 0..<500 {
            if isInLineMode == wanted { return true }
            usleep(10_000)
        }
        return false
    }
}
