import AudioBase
import CRealtime
import Synchronization

/// The thread that makes new plug-ins after resets, one for the process; it starts with the first unit and then sleeps.
final class Renewer: Sendable {
    static let shared = Renewer()

    private struct Entry { weak var unit: PlugInUnit? }
    private let wakeup = Wakeup()
    private let units = Mutex<[Entry]>([])

    private init() {
        var thread = pthread_t()
        // Where there is no thread, only the first reset forgets.
        _ = earshot_start_thread(&thread, { _ in Renewer.shared.run() }, nil)
        pthread_detach(thread)
    }

    /// For the render thread.
    var handle: Wakeup.Handle { wakeup.handle }

    /// Renews what this unit's resets use up, as long as it lives.
    func add(_ unit: PlugInUnit) {
        units.withLock {
            $0.removeAll { $0.unit == nil }
            $0.append(Entry(unit: unit))
        }
    }

    private func run() -> Never {
        earshot_name_thread("plug-in renewer")
        while true {
            wakeup.prepareToSleep()
            renew()
            var wait = pollfd(fd: wakeup.fileDescriptor, events: Int16(POLLIN), revents: 0)
            poll(&wait, 1, -1)
            wakeup.wokeUp(isSignalled: wait.revents != 0)
        }
    }

    private func renew() {
        for unit in units.withLock({ $0.compactMap(\.unit) }) { unit.renewIfUsed() }
    }
}
