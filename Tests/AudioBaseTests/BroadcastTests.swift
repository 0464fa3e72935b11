// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Testing

@Suite struct BroadcastTests {
    @Test func `each listener receives the elements sent after it subscribed, in order`() async {
        let broadcast = Broadcast<Int>()
        broadcast.send(1)
        let first = broadcast.stream()
        broadcast.send(2)
        let second = broadcast.stream(startingWith: 10)
        broadcast.send(3)
        var iterator = first.makeAsyncIterator()
        #expect(await iterator.next() == 2)
        #expect(await iterator.next() == 3)
        var other = second.makeAsyncIterator()
        #expect(await other.next() == 10)
        #expect(await other.next() == 3)
    }

    @Test func `a slow listener keeps only the newest elements`() async {
        let broadcast = Broadcast<Int>()
        let (all, two) = (broadcast.stream(), broadcast.stream(keeping: 2, startingWith: 0))
        for n in 1...5 { broadcast.send(n) }
        var iterator = two.makeAsyncIterator()
        #expect(await iterator.next() == 4)
        #expect(await iterator.next() == 5)
        var other = all.makeAsyncIterator()
        for n in 1...5 { #expect(await other.next() == n) }
    }

    @Test func `a stream ends when its broadcast is deallocated`() async {
        var broadcast: Broadcast<Int>? = Broadcast()
        let stream = broadcast?.stream(startingWith: 7)
        broadcast = nil
        var elements: [Int] = []
        if let stream { for await element in stream { elements.append(element) } }
        #expect(elements == [7])
    }

    /// A cancellation calls back with the task's lock held, for which a yield to that task waits.
    @Test(.timeLimit(.minutes(10))) func `listeners can be cancelled while elements are sent`() async {
        let broadcast = Broadcast<Int>()
        let sender = Task.detached {
            while !Task.isCancelled { broadcast.send(1) }
        }
        for _ in 0..<3_000 {
            let stream = broadcast.stream(keeping: 1)
            let listener = Task.detached { for await _ in stream {} }
            await Task.yield()
            listener.cancel()
            await listener.value
        }
        sender.cancel()
        await sender.value
    }
}
