// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import TestSupport
import Testing

@testable import EarshotAudioDevices

/// Tests the watching of cards' controls with pipes in place of cards.
@Suite struct ALSAJackWatcherTests {
    /// A card whose events a test writes.
    private final class Card: Sendable {
        let pipe = Pipe()
        /// Waited for before the events are read.
        let gate = DispatchSemaphore(value: 0)
        let isRead = Atomic(false)

        var events: ALSAJackEvents {
            let reader = pipe.fileHandleForReading
            return ALSAJackEvents(descriptor: reader.fileDescriptor) { [self] in
                isRead.store(true, ordering: .releasing)
                gate.wait()
                return !reader.availableData.isEmpty
            }
        }

        func plug() {
            gate.signal()
            pipe.fileHandleForWriting.write(Data([1]))
        }

        func remove() { try? pipe.fileHandleForWriting.close() }
    }

    private final class Cards: Sendable {
        let all = Mutex<[Card]>([])
        let looks = Atomic(0)

        func open() -> ALSAJackEvents {
            let card = Card()
            all.withLock { $0.append(card) }
            return card.events
        }

        subscript(_ index: Int) -> Card { all.withLock { $0[index] } }
        var count: Int { all.withLock { $0.count } }
        var lookCount: Int { looks.load(ordering: .acquiring) }
    }

    @Test func `a card that was removed is looked at, and watched again when it is back`() {
        let cards = Cards()
        let watcher = ALSAJackWatcher { _ in cards.open() }
        let watch = { watcher.watch([3]) { cards.looks.add(1, ordering: .releasing) } }
        watch()
        watch()
        #expect(cards.count == 1)
        cards[0].plug()
        #expect(eventually { cards.lookCount == 1 })
        cards[0].gate.signal()
        cards[0].remove()
        #expect(eventually { cards.lookCount == 2 })
        watch()
        #expect(cards.count == 2)
        cards[1].plug()
        #expect(eventually { cards.lookCount == 3 })
        watcher.stop()
    }

    @Test func `the end of a card's events ends no watch of a later card with its number`() {
        let cards = Cards()
        let watcher = ALSAJackWatcher { _ in cards.open() }
        func watch(_ numbers: Set<Int>) { watcher.watch(numbers) { cards.looks.add(1, ordering: .releasing) } }
        watch([3])
        cards[0].remove()
        #expect(eventually { cards[0].isRead.load(ordering: .acquiring) })
        watch([])
        watch([3])
        #expect(cards.count == 2)
        cards[0].gate.signal()
        #expect(eventually { cards.lookCount == 1 })
        cards[1].plug()
        #expect(eventually { cards.lookCount == 2 })
        watch([3])
        #expect(cards.count == 2, "still watched")
        watcher.stop()
    }
}
