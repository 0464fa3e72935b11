// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime
import EarshotAudioBase
import Synchronization

/// A thread, one per process, that creates new plug-in instances after resets. It starts with the first unit, and sleeps until a
/// reset.
final class InstanceRebuilder: Sendable {
    static let shared = InstanceRebuilder()

    private struct Entry { weak var unit: PlugInUnit? }
    private let wakeup = Wakeup()
    private let units = Mutex<[Entry]>([])

    private init() {
        let thread = ServiceThread(name: "plug-in renewer", wakeup: wakeup) {
            InstanceRebuilder.shared.renew()
            return .untilWoken
        }
        // If the thread cannot start, only the first reset of a unit clears its plug-in's state.
        _ = thread.start()
    }

    /// The handle with which a render thread wakes this thread after a reset.
    var handle: Wakeup.Handle { wakeup.handle }

    /// Lets the thread create new instances for a unit after each of the unit's resets, as long as the unit exists.
    func add(_ unit: PlugInUnit) {
        units.withLock {
            $0.removeAll { $0.unit == nil }
            $0.append(Entry(unit: unit))
        }
    }

    private func renew() {
        for unit in units.withLock({ $0.compactMap(\.unit) }) { unit.renewIfUsed() }
    }
}
