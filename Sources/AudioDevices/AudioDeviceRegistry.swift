// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Synchronization

/// The list of a sound system's devices, and its observers. Any thread except the render thread.
///
/// A backend passes the whole list after any possible change; the registry finds the differences.
public final class AudioDeviceRegistry: Sendable {
    /// The list of devices at one time.
    package struct Contents: Sendable {
        package var devices: [AudioDeviceDescription] = []
        /// The ids of the devices that are absent for a moment because their hardware changes its profile, such as a Bluetooth
        /// headset between music and a call.
        package var reconfigured: Set<String> = []
    }
    private let list = Mutex(Contents())
    private let broadcast = Broadcast<AudioDeviceChange>()
    private let listeners = Mutex<[Listener]>([])

    private struct Listener { weak var wakeup: Wakeup? }

    /// Creates an empty list.
    package init() {}

    /// The current devices, in the backend's order.
    public var devices: [AudioDeviceDescription] { list.withLock { $0.devices } }
    /// The current devices and the devices that will return soon.
    package var contents: Contents { list.withLock { $0 } }

    /// Returns a stream of the list's changes from now on, in order. Unread changes are kept without a limit.
    public func changes() -> AsyncStream<AudioDeviceChange> { broadcast.stream() }

    /// Registers `wakeup` to be signalled after each change of the list, for a thread that polls; does not retain it.
    package func wake(_ wakeup: Wakeup) {
        listeners.withLock { listeners in
            listeners.removeAll { $0.wakeup == nil || $0.wakeup === wakeup }
            listeners.append(Listener(wakeup: wakeup))
        }
    }

    /// Replaces the list and reports its changes. For backends; the devices' ids must be unique.
    /// - Parameter reconfigured: the new ``Contents/reconfigured``.
    package func replace(with devices: [AudioDeviceDescription], reconfigured: Set<String> = []) {
        let hasChanged = list.withLock { list in
            let changes = Self.changes(from: list.devices, to: devices)
            let isSame = changes.isEmpty && reconfigured == list.reconfigured
            list = Contents(devices: devices, reconfigured: reconfigured)
            for change in changes { broadcast.send(change) }
            return !isSame
        }
        guard hasChanged else { return }
        for wakeup in listeners.withLock({ $0.compactMap(\.wakeup) }) { wakeup.handle.wake() }
    }

    /// Returns the changes between two lists in this order: removed devices, changed devices, new devices, changed defaults.
    static func changes(
        from old: [AudioDeviceDescription], to new: [AudioDeviceDescription]
    ) -> [AudioDeviceChange] {
        let before = Dictionary(old.map { ($0.id, $0) }) { first, _ in first }
        let after = Dictionary(new.map { ($0.id, $0) }) { first, _ in first }
        var changes = old.filter { after[$0.id] == nil }.map { AudioDeviceChange.removed($0) }
        for device in new {
            guard var previous = before[device.id] else { continue }
            previous.isDefaultInput = device.isDefaultInput
            previous.isDefaultOutput = device.isDefaultOutput
            if previous != device { changes.append(.changed(device)) }
        }
        changes += new.filter { before[$0.id] == nil }.map { .added($0) }
        let (input, output) = (new.first(where: \.isDefaultInput), new.first(where: \.isDefaultOutput))
        if old.first(where: \.isDefaultInput)?.id != input?.id { changes.append(.defaultInput(input)) }
        if old.first(where: \.isDefaultOutput)?.id != output?.id { changes.append(.defaultOutput(output)) }
        return changes
    }
}
