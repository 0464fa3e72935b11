// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

/// The keys of the terminal on standard input, without waiting for a line and without echo.
///
/// Ctrl-C, Ctrl-Z and Ctrl-\ keep their meaning. The terminal's mode is restored while the program is stopped (Ctrl-Z), and at
/// any end except `kill -9`. In the background it reads no keys, and continues in the foreground. One instance at a time, for one
/// thread.
final class Keys {
    private let descriptor: CInt
    private var parser = KeyParser()
    private var isOpen = true

    /// Nil if the descriptor is no terminal.
    init?(_ descriptor: CInt = STDIN_FILENO) {
        guard isatty(descriptor) == 1 else { return nil }
        self.descriptor = descriptor
        TerminalMode.prepare(descriptor)
        TerminalMode.enter()
    }

    deinit { TerminalMode.restore() }

    /// Returns the next key; nil if there is none.
    /// - Parameter seconds: the maximum time to wait; a signal ends it earlier.
    func next(within seconds: Double = 0) -> Key? {
        if let key = parser.next() { return key }
        guard isOpen, TerminalMode.enter() else {
            usleep(UInt32(max(0, min(seconds, 1)) * 1e6))
            return nil
        }
        guard hasInput(seconds) else { return parser.next(isComplete: parser.isWaiting) }
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = read(descriptor, &bytes, bytes.count)
        // The terminal was closed.
        if count == 0 || (count < 0 && errno != EINTR && errno != EAGAIN) { isOpen = false }
        if count > 0 { parser.take(bytes[..<count]) }
        return parser.next()
    }

    private func hasInput(_ seconds: Double) -> Bool {
        var input = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        // The remainder of a sequence comes at once; otherwise it was the Escape key.
        let limit = parser.isWaiting ? min(seconds, 0.05) : seconds
        return poll(&input, 1, Int32(max(0, min(limit, 1)) * 1e3)) > 0
    }
}

/// The terminal's mode: the original one, or one that delivers each key at once. Process-wide, as signals are.
enum TerminalMode {
    /// The terminal's descriptor; -1 before there is one.
    private static let descriptor = Atomic<CInt>(-1)
    /// True if the terminal's original mode must be restored.
    private static let isChanged = Atomic(false)
    private nonisolated(unsafe) static let found = UnsafeMutablePointer<termios>.allocate(capacity: 1)
    private nonisolated(unsafe) static let actions = UnsafeMutablePointer<sigaction>.allocate(capacity: 64)
    /// The signals of a program's faults.
    private static let faults = [SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGABRT, SIGFPE, SIGQUIT, SIGSYS]

    /// Stores a terminal's mode, and catches what may end the program.
    static func prepare(_ terminal: CInt) {
        let isFirst = descriptor.exchange(terminal, ordering: .relaxed) < 0
        guard isFirst else { return }
        atexit { TerminalMode.restore() }
        for number in faults { catchFault(number) }
        catchStop()
    }

    /// Changes to single keys. Returns false in the background, where the terminal belongs to another program.
    @discardableResult
    static func enter() -> Bool {
        let terminal = descriptor.load(ordering: .relaxed)
        guard terminal >= 0, isForeground(terminal) else { return false }
        var mode = termios()
        guard tcgetattr(terminal, &mode) == 0 else { return true }
        let line = tcflag_t(ICANON | ECHO)
        guard mode.c_lflag & line != 0 else { return true }
        found.pointee = mode
        isChanged.store(true, ordering: .releasing)
        mode.c_lflag &= ~line
        withUnsafeMutableBytes(of: &mode.c_cc) {
            $0[Int(VMIN)] = 1
            $0[Int(VTIME)] = 0
        }
        tcsetattr(terminal, TCSANOW, &mode)
        return true
    }

    /// Restores the original mode. May be called in a signal handler.
    static func restore() {
        let terminal = descriptor.load(ordering: .relaxed)
        guard isChanged.exchange(false, ordering: .acquiring), isForeground(terminal) else { return }
        tcsetattr(terminal, TCSANOW, found)
    }

    /// Returns true in the foreground: in the background a change of mode would stop the program.
    private static func isForeground(_ terminal: CInt) -> Bool {
        let group = tcgetpgrp(terminal)
        return group < 0 || group == getpgrp()
    }

    /// Restores the mode before a fault ends the program.
    private static func catchFault(_ number: CInt) {
        var action = sigaction()
        action.__sigaction_handler.sa_handler = { number in
            TerminalMode.restore()
            sigaction(number, TerminalMode.actions + Int(number), nil)
            raise(number)
        }
        sigaction(number, &action, actions + Int(number))
    }

    /// Restores the mode before the program stops.
    private static func catchStop() {
        var action = sigaction()
        action.sa_flags = SA_RESTART
        action.__sigaction_handler.sa_handler = { number in
            let code = errno
            TerminalMode.restore()
            var (this, standard) = (sigaction(), sigaction())
            standard.__sigaction_handler.sa_handler = SIG_DFL
            sigaction(number, &standard, &this)
            var (only, before) = (sigset_t(), sigset_t())
            sigemptyset(&only)
            sigaddset(&only, number)
            raise(number)
            pthread_sigmask(SIG_UNBLOCK, &only, &before)  // here it stands still
            pthread_sigmask(SIG_SETMASK, &before, nil)
            sigaction(number, &this, nil)
            errno = code  // the next look for keys changes the mode again
        }
        var old = sigaction()
        sigaction(SIGTSTP, nil, &old)
        // A shell without job control ignores the signal.
        guard unsafeBitCast(old.__sigaction_handler.sa_handler, to: Int.self) != 1 else { return }
        sigaction(SIGTSTP, &action, nil)
    }
}
