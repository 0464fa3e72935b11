// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime
import EarshotAudioBase
import Synchronization
import TestSupport
import Testing

@Suite struct WakeupConcurrentTests {
    /// A queue and the wake-up of its reader.
    private struct Side: Sendable {
        let queue = MessageQueue<Int>(capacity: 4)
        let wakeup = Wakeup()

        func send(_ n: Int) {
            queue.writer.push(n)
            wakeup.handle.wake()
        }

        /// Sleeps until the next record; nil after 20 s, which only a lost wake-up explains.
        func receive() -> Int? {
            while true {
                if let n = queue.pop() { return n }
                wakeup.prepareToSleep()
                if let n = queue.pop() {
                    wakeup.wokeUp()
                    return n
                }
                var entry = pollfd(fd: wakeup.fileDescriptor, events: Int16(POLLIN), revents: 0)
                let ready = poll(&entry, 1, 20_000)
                wakeup.wokeUp()
                if ready == 0 { return nil }
            }
        }
    }

    @Test func noWakeUpIsLostInPingPong() {
        let ping = Side()
        let pong = Side()
        let rounds = 20_000
        let arrived = Atomic(0)
        onTwoThreads {
            var random = SeededRandom(seed: 7)
            for n in 0..<rounds {
                ping.send(n)
                for _ in 0..<Int.random(in: 0..<200, using: &random) { _ = HostTime.now() }
                guard pong.receive() == n else { return }
                arrived.add(1, ordering: .relaxed)
            }
        } _: {
            var random = SeededRandom(seed: 8)
            for n in 0..<rounds {
                guard ping.receive() == n else { return }
                for _ in 0..<Int.random(in: 0..<200, using: &random) { _ = HostTime.now() }
                pong.send(n)
            }
        }
        #expect(arrived.load(ordering: .relaxed) == rounds)
    }
}
