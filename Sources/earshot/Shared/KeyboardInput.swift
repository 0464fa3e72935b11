// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

/// The keys of the terminal on standard input, without waiting for a line and without echo.
///
/// Ctrl-C, Ctrl-Z and Ctrl-\ keep their meaning. The terminal's mode is restored while the program is stopped (Ctrl-Z), and at
/// any end except `kill -9`. In the background no keys are read; reading continues in the foreground. One instance at a time, for
/// one thread.
final class KeyboardInput {
    private let descriptor: CInt
    private var parser = KeyParser()
    private var isOpen = true

    /// Returns nil if the descriptor is not a terminal.
    init?(_ descriptor: CInt = STDIN_FILENO) {
        guard isatty(descriptor) == 1 else { return nil }
        self.descriptor = descriptor
        TerminalMode.prepare(descriptor)
        TerminalMode.enter()
    }

    deinit { TerminalMode.restore() }

    /// Returns the next key; nil if there is none.
    /// - Parameter seconds: the maximum time to wait, at most 1. A signal ends the wait earlier.
    func next(within seconds: Double = 0) -> Key? {
        if let key = parser.next() { return key }
        guard isOpen, TerminalMode.enter() else {
            usleep(UInt32(max(0, min(seconds, 1)) * 1e6))
            return nil
        }
        guard hasInput(seconds) else { return parser.next(isComplete: parser.isWaiting) }
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = read(descriptor, &bytes, bytes.count)
        // The end of the input or an error means that the terminal was closed.
        if count == 0 || (count < 0 && errno != EINTR && errno != EAGAIN) { isOpen = false }
        if count > 0 { parser.take(bytes[..<count]) }
        return parser.next()
    }

    /// Returns the next key; nil if there is none within about `seconds`, or if a signal ends the program.
    func wait(seconds: Double) -> Key? {
        let interval = 0.1
        for _ in 0..<Int(seconds / interval) {
            if Interrupt.isRequested { return nil }
            if let key = next(within: interval) { return key }
        }
        return nil
    }

    private func hasInput(_ seconds: Double) -> Bool {
        var input = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        // The further bytes of a key's sequence come at once. If none come within 50 ms, the key was Escape.
        let limit = parser.isWaiting ? min(seconds, 0.05) : seconds
        return poll(&input, 1, Int32(max(0, min(limit, 1)) * 1e3)) > 0
    }
}

/// Switches the terminal between its original mode and a mode that delivers each key at once. The state is process-wide, since
/// signal handlers use it.
enum TerminalMode {
    /// The terminal's descriptor; -1 before ``prepare(_:)``.
    private static let descriptor = Atomic<CInt>(-1)
    /// True if the terminal's original mode must be restored.
    private static let isChanged = Atomic(false)
    private nonisolated(unsafe) static let originalMode = UnsafeMutablePointer<termios>.allocate(capacity: 1)
    private nonisolated(unsafe) static let originalActions = UnsafeMutablePointer<sigaction>.allocate(capacity: 64)
    /// The signals that end the program after a fault, and SIGQUIT (Ctrl-\).
    private static let faults = [SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGABRT, SIGFPE, SIGQUIT, SIGSYS]

    /// Stores a terminal's descriptor. Arranges that the terminal's mode is restored when the program ends or stops.
    static func prepare(_ terminal: CInt) {
        let isFirst = descriptor.exchange(terminal, ordering: .relaxed) < 0
        guard isFirst else { return }
        atexit { TerminalMode.restore() }
        for number in faults { catchFault(number) }
        catchStop()
    }

    /// Stores the terminal's mode and changes to single keys. Returns false in the background, without a change.
    @discardableResult
    static func enter() -> Bool {
        let terminal = descriptor.load(ordering: .relaxed)
        guard terminal >= 0, isForeground(terminal) else { return false }
        var mode = termios()
        guard tcgetattr(terminal, &mode) == 0 else { return true }
        let lineFlags = tcflag_t(ICANON | ECHO)
        guard mode.c_lflag & lineFlags != 0 else { return true }
        originalMode.pointee = mode
        isChanged.store(true, ordering: .releasing)
        mode.c_lflag &= ~lineFlags
        withUnsafeMutableBytes(of: &mode.c_cc) {
            $0[Int(VMIN)] = 1
            $0[Int(VTIME)] = 0
        }
        tcsetattr(terminal, TCSANOW, &mode)
        return true
    }

    /// Restores the terminal's original mode, unless the program is in the background. May be called in a signal handler.
    static func restore() {
        let terminal = descriptor.load(ordering: .relaxed)
        guard isChanged.exchange(false, ordering: .acquiring), isForeground(terminal) else { return }
        tcsetattr(terminal, TCSANOW, originalMode)
    }

    /// Returns true in the foreground. In the background, a change of the terminal's mode would stop the program.
    private static func isForeground(_ terminal: CInt) -> Bool {
        let group = tcgetpgrp(terminal)
        return group < 0 || group == getpgrp()
    }

    /// Catches a signal that would end the program, and restores the terminal's mode first.
    private static func catchFault(_ number: CInt) {
        var action = sigaction()
        action.__sigaction_handler.sa_handler = { number in
            TerminalMode.restore()
            sigaction(number, TerminalMode.originalActions + Int(number), nil)
            raise(number)
        }
        sigaction(number, &action, originalActions + Int(number))
    }

    /// Catches SIGTSTP (Ctrl-Z), and restores the terminal's mode before the program stops.
    private static func catchStop() {
        var action = sigaction()
        action.sa_flags = SA_RESTART
        action.__sigaction_handler.sa_handler = { number in
            let savedErrno = errno
            TerminalMode.restore()
            var (stopAction, defaultAction) = (sigaction(), sigaction())
            defaultAction.__sigaction_handler.sa_handler = SIG_DFL
            sigaction(number, &defaultAction, &stopAction)
            var (stopSignal, previousMask) = (sigset_t(), sigset_t())
            sigemptyset(&stopSignal)
            sigaddset(&stopSignal, number)
            raise(number)
            pthread_sigmask(SIG_UNBLOCK, &stopSignal, &previousMask)  // the program stops in this call
            pthread_sigmask(SIG_SETMASK, &previousMask, nil)
            sigaction(number, &stopAction, nil)
            errno = savedErrno  // KeyboardInput.next() then changes the terminal's mode again
        }
        var currentAction = sigaction()
        sigaction(SIGTSTP, nil, &currentAction)
        // A shell without job control has set SIGTSTP to SIG_IGN (1). Then the signal stays ignored.
        guard unsafeBitCast(currentAction.__sigaction_handler.sa_handler, to: Int.self) != 1 else { return }
        sigaction(SIGTSTP, &action, nil)
    }
}
