// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime
import EarshotAudioBase
import Glibc

extension MediaPort {
    /// The maximum bytes of a received datagram, far more than media needs. Larger datagrams are dropped.
    private static let datagramCapacity = 4_096
    /// The maximum datagrams received in one turn: a flood must not delay the local voice.
    private static let datagramsPerTurn = 64
    /// The minimum seconds between two publications of the peers' reports.
    private static let reportInterval = 0.05

    func run() {
        unsafe earshot_name_thread("media")
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.datagramCapacity, alignment: 16)
        defer { unsafe buffer.deallocate() }
        let transmit: MediaEndpoint.Transmit = { [self] datagram, local, peer in
            counted.sends += 1
            // Errors are ignored: if the local address has gone or the network has no route, checks find another path.
            _ = unsafe try? socket.send(datagram, to: peer, from: local)
        }
        var lastReport = HostTime(nanoseconds: 0)
        var priority: Int?
        var sleptNanoseconds = earshot_slept_ns()
        while running.load(ordering: .acquiring) {
            let work = sleep()
            unsafe takeOrders(transmit)
            followSleep(&sleptNanoseconds)
            if work.hasDatagrams { unsafe receive(into: buffer, transmit) }
            followAddresses(hasAddressNews: work.hasAddressNews)
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
            // After an error, as when there is no further datagram, the next turn continues.
            guard let received = unsafe try? socket.receive(into: buffer) else { return }
            if received.isTruncated { continue }
            let wall = received.stamp == nil ? nil : WallTime.now()
            let now = HostTime.now()
            let arrived = wall.flatMap { received.stamp?.hostTime(wall: $0, now: now) }
            unsafe core.receive(
                UnsafeMutableRawBufferPointer(rebasing: buffer[..<received.size]), from: received.source,
                to: received.local, at: now, arrived: arrived, transmit)
        }
    }

    /// Notes that the machine slept: ``HostTime`` does not count that time, but the age of a consent does.
    private func followSleep(_ sleptNanoseconds: inout Int64) {
        let now = earshot_slept_ns()
        // Less than 0.1 s is no sleep: the two clocks that are compared are not read at the same instant.
        guard now - sleptNanoseconds > 100_000_000 else { return }
        core.slept(for: Double(now - sleptNanoseconds) * 1e-9, at: .now())
        sleptNanoseconds = now
    }

    private func followAddresses(hasAddressNews: Bool) {
        guard monitor != nil, hasAddressNews || monitor?.nextDeadline != nil else { return }
        let now = HostTime.now()
        if hasAddressNews { monitor?.receive(at: now) }
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

    /// The work that `poll` reported for one turn. It saves needless system calls, each of which costs as much as a datagram.
    private struct Work {
        var hasDatagrams = true
        var hasAddressNews = true
    }

    /// Waits for work, at most 100 ms. Reads the state after requesting the wake-up, so that nothing is missed.
    private func sleep() -> Work {
        wakeup.prepareToSleep()
        // If another thread holds the lock, this one sleeps: otherwise that thread, of lower priority, might never run. It wakes
        // this thread when it has released the lock.
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
        return Work(hasDatagrams: descriptors.0.revents != 0, hasAddressNews: descriptors.2.revents != 0)
    }

    private var nextDeadline: HostTime? {
        var next = core.nextDeadline
        if let due = monitor?.nextDeadline { next = min(due, next ?? due) }
        return next
    }
}
