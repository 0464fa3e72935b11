// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime
import EarshotAudioBase
import Synchronization

/// The thread that creates new plug-in instances after resets, one per process. It starts with the first unit and then sleeps.
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
        // Without the thread only the first reset clears the plug-ins' state.
        _ = thread.start()
    }

    /// For the render thread.
    var handle: Wakeup.Handle { wakeup.handle }

    /// Creates new instances for this unit after each reset, as long as the unit exists.
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
