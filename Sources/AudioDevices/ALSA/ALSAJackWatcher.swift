// SPDX-License-Identifier: Apache-2.0

import CEarshotALSA
import Foundation
import Synchronization

/// Reports possible changes of the jack controls of sound cards.
final class ALSAJackWatcher: Sendable {
    private let queue = DispatchQueue(label: "alsa-jacks")
    private let sources = Mutex<[Int: any DispatchSourceRead]>([:])

    deinit { stop() }

    /// Watches these cards, by number, and no others.
    /// - Parameter look: called on this object's queue after an event of a card, which may also be a changed volume.
    func watch(_ cards: Set<Int>, look: @escaping @Sendable () -> Void) {
        sources.withLock { sources in
            for number in sources.keys where !cards.contains(number) { sources.removeValue(forKey: number)?.cancel() }
            for number in cards where sources[number] == nil {
                sources[number] = source(card: number, look)
            }
        }
    }

    /// Stops watching.
    func stop() {
        sources.withLock { sources in
            for source in sources.values { source.cancel() }
            sources = [:]
        }
    }

    private func remove(card number: Int) { sources.withLock { $0.removeValue(forKey: number)?.cancel() } }

    private func source(card number: Int, _ look: @escaping @Sendable () -> Void) -> (any DispatchSourceRead)? {
        guard let control = ALSAControl(card: number), snd_ctl_subscribe_events(control.handle, 1) >= 0 else {
            return nil
        }
        var descriptor = pollfd()
        guard snd_ctl_poll_descriptors(control.handle, &descriptor, 1) == 1 else { return nil }
        let source = DispatchSource.makeReadSource(fileDescriptor: descriptor.fd, queue: queue)
        source.setEventHandler { [weak self] in
            if control.takeEvents() { look() } else { self?.remove(card: number) }
        }
        source.setCancelHandler { _ = control }  // keeps the descriptor open until then
        source.activate()
        return source
    }
}

extension ALSAControl {
    /// Reads all pending events. Returns false if the card is gone.
    fileprivate func takeEvents() -> Bool {
        var event: OpaquePointer?
        guard snd_ctl_event_malloc(&event) >= 0, let event else { return false }
        defer { snd_ctl_event_free(event) }
        while true {
            let code = snd_ctl_read(handle, event)
            if code == -EAGAIN || code == 0 { return true }
            if code < 0 { return false }
        }
    }
}
