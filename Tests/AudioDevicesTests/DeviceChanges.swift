// SPDX-License-Identifier: Apache-2.0

import EarshotAudioDevices
import Synchronization
import TestSupport

/// The reported changes of a device, also those that lasted for a moment only; beside a test that may not suspend.
final class DeviceChanges: Sendable {
    private let changed = Mutex<[AudioDeviceDescription]>([])
    private let task = Mutex<Task<Void, Never>?>(nil)

    init(of id: String, in system: any AudioSystem) {
        let changes = system.changes()
        task.withLock { task in
            task = Task.detached { [weak self] in
                for await change in changes {
                    guard case .changed(let device) = change, device.id == id else { continue }
                    self?.changed.withLock { $0.append(device) }
                }
            }
        }
    }

    deinit { task.withLock { $0?.cancel() } }

    /// The device after each change, in order.
    var all: [AudioDeviceDescription] { changed.withLock { $0 } }

    /// Waits until the device meets a condition after a change, and does something meanwhile; false after ten seconds.
    func wait(until isMeant: (AudioDeviceDescription) -> Bool, while work: () -> Void) -> Bool {
        eventually {
            work()
            return all.last.map(isMeant) ?? false
        }
    }
}
