// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization

/// Lets one of start, pause, resume and stop happen at a time, from its beginning to its end.
///
/// A thread that stops the engine waits for the engine's own thread, so that thread never waits here: if another one is active, its
/// wish is left to that one.
final class Lifecycle: @unchecked Sendable {  // a mutex, and atomics
    /// The wishes of the engine's own thread; the greater counts.
    enum Wish: Int {
        case pause = 1
        case stop = 2
    }

    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let wished = Atomic(0)
    /// The engine's own thread while it works, else 0.
    private let worker = Atomic<UInt>(0)

    init() { pthread_mutex_init(mutex, nil) }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    /// Runs a turn of the engine's own thread.
    func work(_ body: () -> Void) {
        let me = UInt(pthread_self())
        worker.store(me, ordering: .relaxed)
        body()
        _ = worker.compareExchange(expected: me, desired: 0, ordering: .relaxed)
    }

    var isOwnThread: Bool { worker.load(ordering: .relaxed) == UInt(pthread_self()) }

    /// Takes its turn; false where that would be to wait on the engine's own thread.
    func enter() -> Bool {
        if isOwnThread { return pthread_mutex_trylock(mutex) == 0 }
        pthread_mutex_lock(mutex)
        return true
    }

    /// For whoever is in, or comes in next.
    func wish(_ wish: Wish) {
        var known = wished.load(ordering: .relaxed)
        while known < wish.rawValue {
            let result = wished.compareExchange(
                expected: known, desired: wish.rawValue, ordering: .sequentiallyConsistent)
            if result.exchanged { return }
            known = result.original
        }
    }

    /// Gives the turn back, after what was wished for meanwhile.
    func leave(_ fulfil: (Wish) -> Void) {
        repeat {
            if let wish = Wish(rawValue: wished.exchange(0, ordering: .sequentiallyConsistent)) { fulfil(wish) }
            pthread_mutex_unlock(mutex)
        } while wished.load(ordering: .sequentiallyConsistent) != 0 && pthread_mutex_trylock(mutex) == 0
    }
}
