import Foundation
import Synchronization

/// Whether Ctrl-C was pressed (or the process told to end), so that files are closed and the far side hears of it.
enum Interrupt {
    private static let signal = Atomic<Int32>(0)

    /// From here on SIGINT, SIGTERM and SIGHUP are asked about rather than obeyed. A second one ends the process at once.
    static func watch() {
        for number in [SIGINT, SIGTERM, SIGHUP] {
            Foundation.signal(number) { number in
                guard Interrupt.signal.exchange(number, ordering: .relaxed) != 0 else { return }
                TerminalMode.restore()
                _exit(128 + number)
            }
        }
        Foundation.signal(SIGPIPE, SIG_IGN)
    }

    static var isRequested: Bool { signal.load(ordering: .relaxed) != 0 }

    /// What a shell expects of a program that a signal ended: 128 and its number.
    static var exitStatus: Int32 { 128 + signal.load(ordering: .relaxed) }
}
