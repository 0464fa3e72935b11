import CRealtime
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import AudioBase

@Suite struct ServiceThreadTests {
    /// Milliseconds; no test waits so long.
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

    /// True once the thread announced that it sleeps: a wake-up from then on is not lost.
    private func sleeps(_ wakeup: Wakeup) -> Bool {
        wakeup.handle.asleep.pointee.load(ordering: .sequentiallyConsistent)
    }

    @Test func `the work is done once at the start and once for each wake-up`() {
        let (work, wakeup) = (Counter(), Wakeup())
        let thread = ServiceThread(name: "test", interval: Self.hour, wakeup: wakeup) {
            work.increment()
            return true
        }
        #expect(thread.start() == 0)
        for call in 1...50 {
            #expect(eventually { work.value >= call && sleeps(wakeup) })
            #expect(work.value == call)
            #expect(!isReadable(wakeup), "wake-up \(call) was not consumed: the thread spins")
            thread.handle.wake()
        }
        #expect(eventually { work.value >= 51 && sleeps(wakeup) })
        thread.stop()
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
        patient.stop()
        eager.stop()
        #expect(seldom.value == 1, "no hour has passed")
    }

    @Test func `stopping wakes a thread that sleeps`() {
        let (work, wakeup, stops) = (Counter(), Wakeup(), Counter())
        let thread = ServiceThread(name: "test", interval: Self.hour, wakeup: wakeup) {
            work.increment()
            return true
        }
        #expect(thread.start() == 0)
        #expect(eventually { work.value == 1 && sleeps(wakeup) })
        Thread.detachNewThread {
            thread.stop()
            stops.increment()
        }
        #expect(eventually { stops.value == 1 }, "stop() waits for the interval to pass")
        wakeup.handle.wake()  // else a failure leaves the thread behind
        #expect(eventually { stops.value == 1 })
        #expect(work.value == 1)
        thread.stop()
    }

    @Test func `work that is done ends the thread and stop returns`() {
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

    @Test func `a thread that stops itself in its work ends and is freed`() {
        let work = Counter()
        weak var freed: ServiceThread?
        do {
            let own = Guarded<ServiceThread?>(nil)
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

    @Test func `the thread has its name and is freed after it was stopped`() throws {
        let name = Guarded("")
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
            thread.stop()
        }
        #expect(name.withLock { $0 } == "fifteen letters\n")
        #expect(freed == nil)
    }
}
