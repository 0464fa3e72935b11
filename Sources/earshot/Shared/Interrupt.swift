// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

/// Notes Ctrl-C and other signals that end the program, so that a command can close its files and notify remote participants.
enum Interrupt {
    private static let signal = Atomic<Int32>(0)

    /// Catches SIGINT, SIGTERM and SIGHUP, which ``isRequested`` then reports. A second signal ends the process at once.
    static func watch() {
        for number in [SIGINT, SIGTERM, SIGHUP] {
            Foundation.signal(number) { number in
                guard Interrupt.signal.exchange(number, ordering: .relaxed) != 0 else { return }
                TerminalMode.restore()
                _exit(128 + number)
            }
        }
        Foundation.signal(SIGPIPE, SIG_IGN)
        Foundation.signal(SIGXFSZ, SIG_IGN)  // write() then fails if a file exceeds its limit
    }

    private static let pauseSignalCount = Atomic(0)

    /// Starts counting SIGUSR1 signals, which pause or resume a recording.
    static func watchPauses() {
        Foundation.signal(SIGUSR1) { _ in Interrupt.pauseSignalCount.add(1, ordering: .relaxed) }
    }

    /// Returns the number of SIGUSR1 signals since the last call.
    static func takePauses() -> Int { pauseSignalCount.exchange(0, ordering: .relaxed) }

    static var isRequested: Bool { signal.load(ordering: .relaxed) != 0 }

    /// Returns true if the user pressed Ctrl-C.
    static var isFromKeyboard: Bool { signal.load(ordering: .relaxed) == SIGINT }

    /// The exit status after the noted signal: 128 plus the signal's number, as shells report it.
    static var exitStatus: Int32 { 128 + signal.load(ordering: .relaxed) }
}
