// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

/// Interrupts by Ctrl-C or other signals, so that files are closed and remote participants are notified.
enum Interrupt {
    private static let signal = Atomic<Int32>(0)

    /// Catches SIGINT, SIGTERM and SIGHUP for later questions. A second one ends the process at once.
    static func watch() {
        for number in [SIGINT, SIGTERM, SIGHUP] {
            Foundation.signal(number) { number in
                guard Interrupt.signal.exchange(number, ordering: .relaxed) != 0 else { return }
                TerminalMode.restore()
                _exit(128 + number)
            }
        }
        Foundation.signal(SIGPIPE, SIG_IGN)
        Foundation.signal(SIGXFSZ, SIG_IGN)  // a file that reaches its limit is an error as a full disk is
    }

    private static let pauses = Atomic(0)

    /// Starts counting SIGUSR1.
    static func watchPauses() { Foundation.signal(SIGUSR1) { _ in Interrupt.pauses.add(1, ordering: .relaxed) } }

    /// Returns the number of SIGUSR1 signals since the last call.
    static func takePauses() -> Int { pauses.exchange(0, ordering: .relaxed) }

    static var isRequested: Bool { signal.load(ordering: .relaxed) != 0 }

    /// Returns true if the user pressed Ctrl-C.
    static var isFromKeyboard: Bool { signal.load(ordering: .relaxed) == SIGINT }

    /// The shell's status of a program that a signal ended: 128 and its number.
    static var exitStatus: Int32 { 128 + signal.load(ordering: .relaxed) }
}
