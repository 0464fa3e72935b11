// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime
import EarshotAudioBase
import Glibc

extension MediaPort {
    /// The maximum bytes of a received datagram; media's are a quarter of it.
    private static let datagramCapacity = 4_096
    /// The maximum datagrams received in one turn: a flood must not delay the local voice.
    private static let datagramsPerTurn = 64
    /// The seconds between reports.
    private static let reportInterval = 0.05

    func run() {
        unsafe earshot_name_thread("media")
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.datagramCapacity, alignment: 16)
        defer { unsafe buffer.deallocate() }
        let transmit: MediaEndpoint.Transmit = { [self] datagram, local, peer in
            counted.sends += 1
            // The address may have gone, or the network has no route: checks find another path.
            _ = unsafe try? socket.send(datagram, to: peer, from: local)
        }
        var lastReport = HostTime(nanoseconds: 0)
        var priority: Int?
        var slept = earshot_slept_ns()
        while running.load(ordering: .acquiring) {
            let work = sleep()
            unsafe takeOrders(transmit)
            followSleep(&slept)
            if work.hasDatagrams { unsafe receive(into: buffer, transmit) }
            followAddresses(hasNews: work.hasNews)
            schedule(&priority)
            let now = HostTime.now()
            unsafe core.turn(at: now, transmit)
            if now.seconds(since: lastReport) > Self.reportInterval, publish(at: now) { lastReport = now }
        }
        unsafe takeOrders(transmit)
        unsafe core.removeAll(at: .now(), transmit)
        counted.time = .now()
        published.withLock { $0.work = counted }
    }

    /// Applies the priority that the client requests.
    private func schedule(_ priority: inout Int?) {
        guard let wantedPriority = core.client?.realTimePriority else {
            if priority != nil { _ = earshot_set_thread_normal(pthread_self()) }
            return priority = nil
        }
        if wantedPriority != priority { _ = earshot_set_thread_fifo(pthread_self(), CInt(max(1, wantedPriority))) }
        priority = wantedPriority
    }

    private func takeOrders(_ transmit: MediaEndpoint.Transmit) {
        // A thread of lower priority may hold the lock: then the next turn executes the orders.
        let taken: [MediaPortCore.Order]? = orders.withLockIfAvailable { orders in
            defer { orders = [] }
            return orders
        }
        for order in taken ?? [] { unsafe core.execute(order, at: .now(), transmit) }
    }

    private func receive(into buffer: UnsafeMutableRawBufferPointer, _ transmit: MediaEndpoint.Transmit) {
        for _ in 0..<Self.datagramsPerTurn {
            counted.receives += 1
            // An error of one datagram does not concern the next.
            guard let received = unsafe try? socket.receive(into: buffer) else { return }
            if received.isTruncated { continue }
            unsafe core.receive(
                UnsafeMutableRawBufferPointer(rebasing: buffer[..<received.size]), from: received.source,
                to: received.local, at: .now(), transmit)
        }
    }

    /// Notes that the machine slept: ``HostTime`` does not count that time, but the age of a consent does.
    private func followSleep(_ slept: inout Int64) {
        let now = earshot_slept_ns()
        // The two clocks are not read at the same instant.
        guard now - slept > 100_000_000 else { return }
        core.slept(for: Double(now - slept) * 1e-9, at: .now())
        slept = now
    }

    private func followAddresses(hasNews: Bool) {
        guard monitor != nil, hasNews || monitor?.nextDeadline != nil else { return }
        let now = HostTime.now()
        if hasNews { monitor?.receive(at: now) }
        guard let addresses = monitor?.tick(at: now) else { return }
        core.setLocalAddresses(addresses.map(\.address), at: now)
        eventContinuation.yield(.addresses(addresses))
    }

    private func publish(at now: HostTime) -> Bool {
        counted.time = now
        let isDone: Bool? = published.withLockIfAvailable { published in
            published.work = counted
            published.reports.removeAll(keepingCapacity: true)
            for peer in core.peers { published.reports[peer] = core.report(of: peer) }
            return true
        }
        return isDone ?? false
    }

    /// The work that `poll` reported for one turn: a needless system call costs as much as a datagram.
    private struct Work {
        var hasDatagrams = true
        var hasNews = true
    }

    /// Waits for work. It reads the state after requesting the wake-up, so that nothing is missed.
    private func sleep() -> Work {
        wakeup.prepareToSleep()
        // The thread that holds the lock wakes this one next: without sleep, a lower priority would never run.
        if !running.load(ordering: .sequentiallyConsistent) || core.client?.hasMedia ?? false
            || !(orders.withLockIfAvailable { $0.isEmpty } ?? true)
        {
            wakeup.wokeUp(isSignalled: false)
            return Work()
        }
        counted.waits += 1
        let due = nextDeadline.map { $0.nanoseconds - HostTime.now().nanoseconds }
        let milliseconds = CInt(max(0, min(((due ?? 100_000_000) + 999_999) / 1_000_000, 100)))
        var descriptors = (
            pollfd(fd: socket.fileDescriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: wakeup.fileDescriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: monitor?.fileDescriptor ?? -1, events: Int16(POLLIN), revents: 0)
        )
        unsafe withUnsafeMutablePointer(to: &descriptors) {
            unsafe $0.withMemoryRebound(to: pollfd.self, capacity: 3) { _ = unsafe poll($0, 3, milliseconds) }
        }
        let isSignalled = descriptors.1.revents != 0
        wakeup.wokeUp(isSignalled: isSignalled)
        if isSignalled { counted.signals += 1 }
        return Work(hasDatagrams: descriptors.0.revents != 0, hasNews: descriptors.2.revents != 0)
    }

    private var nextDeadline: HostTime? {
        var next = core.nextDeadline
        if let due = monitor?.nextDeadline { next = min(due, next ?? due) }
        return next
    }
}
