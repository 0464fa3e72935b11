// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import EarshotAudioBase

@Suite struct ServiceThreadTests {
    /// Milliseconds. No test waits this long.
    private static let hour = 3_600_000

    private final class Counter: Sendable {
        private let calls = Atomic(0)
        var value: Int { calls.load(ordering: .acquiring) }
        func increment() { calls.add(1, ordering: .acquiringAndReleasing) }
    }

    private func isReadable(_ wakeup: Wakeup) -> Bool {
        var entry = pollfd(fd: wakeup.fileDescriptor, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, 0) == 1
    }

    /// Returns true once the thread has announced that it sleeps: a wake-up after that is not lost.
    private func sleeps(_ wakeup: Wakeup) -> Bool {
        wakeup.handle.asleep.pointee.load(ordering: .sequentiallyConsistent)
    }

    /// Stops a thread. If the stop waits for the interval, it records an issue and wakes the thread.
    private func stop(_ thread: ServiceThread) {
        let stops = Counter()
        Thread.detachNewThread {
            thread.stop()
            stops.increment()
        }
        let isStopped = eventually { stops.value == 1 }
        #expect(isStopped, "stop() waits for the interval to pass")
        if !isStopped {
            thread.handle.wake()
            #expect(eventually { stops.value == 1 })
        }
    }

    @Test func `the work is done once at the start and once for each wake-up`() {
        let (work, wakeup) = (Counter(), Wakeup())
        let thread = ServiceThread(name: "test", interval: Self.hour, wakeup: wakeup) {
            work.increment()
            return true
        }
        #expect(thread.start() == 0)
        for call in 1...50 {
            let isAsleep = eventually { work.value >= call && sleeps(wakeup) }
            let isExpected = isAsleep && work.value == call && !isReadable(wakeup)
            #expect(isExpected, "\(work.value) calls after \(call - 1) wake-ups: the thread spins, or does not wake")
            if !isExpected { break }
            thread.handle.wake()
        }
        #expect(eventually { work.value >= 51 && sleeps(wakeup) })
        stop(thread)
        #expect(work.value == 51)
    }

    @Test func `the work is done again after the interval and not before`() {
        let (often, seldom) = (Counter(), Counter())
        let patient = ServiceThread(name: "test", interval: Self.hour) {
            seldom.increment()
            return true
        }
        let eager = ServiceThread(name: "test", interval: 1) {
            often.increment()
            return true
        }
        #expect(patient.start() == 0)
        #expect(eventually { seldom.value >= 1 })
        #expect(eager.start() == 0)
        #expect(eventually { often.value >= 100 })
        stop(patient)
        stop(eager)
        #expect(seldom.value == 1, "no hour has passed")
    }

    @Test func `stop wakes a sleeping thread`() {
        let (work, wakeup) = (Counter(), Wakeup())
        let thread = ServiceThread(name: "test", interval: Self.hour, wakeup: wakeup) {
            work.increment()
            return true
        }
        #expect(thread.start() == 0)
        #expect(eventually { work.value == 1 && sleeps(wakeup) })
        stop(thread)
        #expect(work.value == 1)
        thread.stop()
    }

    @Test func `a paced thread sleeps as long as its work requests, or until woken`() {
        let work = Counter()
        let thread = ServiceThread(name: "test") {
            work.increment()
            return work.value < 5 ? .milliseconds(1) : .untilWoken
        }
        #expect(thread.start() == 0)
        #expect(eventually { work.value == 5 })
        usleep(20_000)
        #expect(work.value == 5)
        thread.handle.wake()
        #expect(eventually { work.value == 6 })
        stop(thread)
        #expect(work.value == 6)
    }

    @Test func `a wake-up during paced work is not lost`() {
        let (work, wakeup) = (Counter(), Wakeup())
        let thread = ServiceThread(name: "test", wakeup: wakeup) {
            work.increment()
            if work.value < 100 { wakeup.handle.wake() }
            return work.value < 100 ? .untilWoken : nil
        }
        #expect(thread.start() == 0)
        #expect(eventually { work.value == 100 })
        thread.stop()
    }

    @Test func `finished work ends the thread, and stop returns`() {
        let (work, wakeup) = (Counter(), Wakeup())
        let thread = ServiceThread(name: "test", interval: 1, wakeup: wakeup) {
            work.increment()
            return work.value < 3
        }
        thread.stop()
        #expect(thread.start() == 0)
        #expect(eventually { work.value == 3 })
        thread.stop()
        #expect(work.value == 3)
    }

    @Test func `a thread that stops itself from its own work ends and is freed`() {
        let work = Counter()
        weak var freed: ServiceThread?
        do {
            let own = LockedValue<ServiceThread?>(nil)
            let thread = ServiceThread(name: "test", interval: Self.hour) {
                work.increment()
                own.withLock { thread in
                    thread?.stop()
                    thread = nil
                }
                return true
            }
            own.withLock { $0 = thread }
            freed = thread
            #expect(thread.start() == 0)
        }
        #expect(eventually { freed == nil }, "the thread did not end")
        #expect(work.value == 1)
    }

    @Test func `a thread carries its name and is freed after it is stopped`() throws {
        let name = LockedValue("")
        weak var freed: ServiceThread?
        do {
            let thread = ServiceThread(name: "fifteen letters", interval: Self.hour) {
                let text = try? String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)
                name.withLock { $0 = text ?? "unreadable" }
                return true
            }
            freed = thread
            #expect(thread.start() == 0)
            #expect(eventually { name.withLock { $0 } != "" })
            stop(thread)
        }
        #expect(name.withLock { $0 } == "fifteen letters\n")
        #expect(eventually { freed == nil })
    }
}
