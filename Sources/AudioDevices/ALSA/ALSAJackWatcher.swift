// SPDX-License-Identifier: Apache-2.0

import CEarshotALSA
import Foundation
import Synchronization

/// Reports possible changes of the jack controls of sound cards.
final class ALSAJackWatcher: Sendable {
    private let queue = DispatchQueue(label: "alsa-jacks")
    private let open: @Sendable (Int) -> ALSAJackEvents?
    private let watches = Mutex<[Int: Watch]>([:])

    private struct Watch {
        var events: ALSAJackEvents
        var source: any DispatchSourceRead
    }

    /// - Parameter open: opens a card by its number; for tests.
    init(open: @escaping @Sendable (Int) -> ALSAJackEvents? = { ALSAJackEvents(card: $0) }) { self.open = open }

    deinit { stop() }

    /// Watches these cards, by number, and no others. A card that was removed and came back with the same number must be passed
    /// again after `look`.
    /// - Parameter look: called on this object's queue after an event of a card, which may also be a changed volume, and after a
    ///   card's removal.
    func watch(_ cards: Set<Int>, look: @escaping @Sendable () -> Void) {
        watches.withLock { watches in
            for number in watches.keys where !cards.contains(number) {
                watches.removeValue(forKey: number)?.source.cancel()
            }
            for number in cards where watches[number] == nil {
                guard let events = open(number) else { continue }
                watches[number] = Watch(events: events, source: source(events, card: number, look))
            }
        }
    }

    /// Stops watching.
    func stop() {
        watches.withLock { watches in
            for watch in watches.values { watch.source.cancel() }
            watches = [:]
        }
    }

    /// Ends the watch of these events. Another card may have the number by now.
    private func remove(_ events: ALSAJackEvents, card number: Int) {
        watches.withLock { watches in
            guard watches[number]?.events === events else { return }
            watches.removeValue(forKey: number)?.source.cancel()
        }
    }

    private func source(
        _ events: ALSAJackEvents, card number: Int, _ look: @escaping @Sendable () -> Void
    ) -> any DispatchSourceRead {
        let source = DispatchSource.makeReadSource(fileDescriptor: events.descriptor, queue: queue)
        source.setEventHandler { [weak self] in
            if !events.takeEvents() { self?.remove(events, card: number) }
            look()
        }
        source.setCancelHandler { withExtendedLifetime(events) {} }  // keeps the descriptor open until then
        source.activate()
        return source
    }
}

/// The events of a card's controls.
final class ALSAJackEvents: Sendable {
    /// Readable while events are pending, and when the card is gone.
    let descriptor: CInt
    /// Reads all pending events. Returns false if the card is gone.
    let takeEvents: @Sendable () -> Bool

    init(descriptor: CInt, takeEvents: @escaping @Sendable () -> Bool) {
        self.descriptor = descriptor
        self.takeEvents = takeEvents
    }

    /// Opens a card's control device; nil if it cannot be opened.
    convenience init?(card number: Int) {
        guard let control = ALSAControl(card: number), snd_ctl_subscribe_events(control.handle, 1) >= 0 else {
            return nil
        }
        var descriptor = pollfd()
        guard snd_ctl_poll_descriptors(control.handle, &descriptor, 1) == 1 else { return nil }
        self.init(descriptor: descriptor.fd, takeEvents: { control.takeEvents() })
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
