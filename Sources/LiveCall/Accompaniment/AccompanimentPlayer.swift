// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotCall

/// Plays the accompaniment of a call on its own thread, which may wait for the disk.
final class AccompanimentPlayer: @unchecked Sendable {  // the deck and the last report are the thread's
    /// The seconds by which the position may differ from the one that was reported.
    private static let positionTolerance = 0.05
    /// The seconds after a block in which the next one is expected.
    private static let blockTolerance = 0.2

    private let orders = LockedValue<[(number: Int, order: AccompanimentOrder)]>([])
    private let handle: @Sendable (LiveCallCore.Event) -> Void
    private let thread = LockedValue<ServiceThread?>(nil)
    private var deck: AccompanimentDeck
    private var lastOrder = 0
    private var lastReport: AccompanimentReport?

    /// - Parameter handle: receives the reports, on the player's thread.
    init(_ song: CallAccompaniment, _ handle: @escaping @Sendable (LiveCallCore.Event) -> Void) {
        deck = AccompanimentDeck(song)
        self.handle = handle
    }

    deinit { stop() }

    /// Starts the thread. Returns 0 or an errno.
    func start() -> Int32 {
        let thread = ServiceThread(name: "accompaniment", pacing: { [weak self] in self?.work(at: .now()) })
        self.thread.withLock { $0 = thread }
        return thread.start()
    }

    /// Stops the thread and waits for it: at most for a read from the disk, or for the search in a folder.
    func stop() {
        let thread = thread.withLock { thread in
            defer { thread = nil }
            return thread
        }
        thread?.stop()
    }

    /// Gives an order. Does not wait. Any thread. New files replace all orders that wait for the disk.
    func give(_ order: AccompanimentOrder, number: Int) {
        orders.withLock { orders in
            if case .load = order { orders = [] }
            orders.append((number, order))
        }
        thread.withLock { $0?.handle.wake() }
    }

    /// Does the work of a turn. Returns the time until the next one.
    func work(at now: HostTime) -> ServiceThread.Pause {
        let newOrders = orders.withLock { orders in
            defer { orders = [] }
            return orders
        }
        for (number, order) in newOrders {
            deck.apply(order)
            lastOrder = number
        }
        let isFilled = deck.fill()
        for failure in deck.takeFailures() { handle(.accompanimentFailed(failure)) }
        // A file may be found in a later turn.
        guard isFilled else { return .milliseconds(0) }
        report(at: now)
        if deck.isDropping { return .milliseconds(10) }
        return deck.song.isPlaying ? .milliseconds(50) : .untilWoken
    }

    private func report(at now: HostTime) {
        var report = AccompanimentReport(order: lastOrder, time: now)
        let clock = deck.song.clock
        let rate = deck.song.sampleRate
        if let (segment, frame) = deck.played() {
            report.item = segment.item
            report.position = Double(frame) / rate
        }
        let isCurrent = abs(now.seconds(since: clock.hostTime)) < Self.blockTolerance
        if isCurrent { report.time = clock.hostTime }
        report.isMoving = isCurrent && clock.isMoving && deck.song.isPlaying && !deck.isDropping
        report.hasEnded = report.item != nil && deck.hasEnded
        if report.hasEnded { deck.song.isPlaying = false }
        report.underrunCount = deck.song.underrunCount
        guard isNew(report) else { return }
        lastReport = report
        handle(.accompaniment(report))
    }

    /// Returns true if a report differs from the last one by more than the time that has passed.
    private func isNew(_ report: AccompanimentReport) -> Bool {
        guard let last = lastReport else { return true }
        guard report.order == last.order, report.item == last.item, report.isMoving == last.isMoving,
            report.hasEnded == last.hasEnded, report.underrunCount == last.underrunCount
        else { return true }
        let passed = last.isMoving ? report.time.seconds(since: last.time) : 0
        return abs(report.position - last.position - passed) > Self.positionTolerance
    }
}
