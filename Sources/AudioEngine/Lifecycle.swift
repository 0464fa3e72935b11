// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization

/// Serializes start, pause, resume and stop.
///
/// A thread that stops the engine waits for the engine's own thread, so that thread never waits here: if another thread holds the
/// lock, that thread carries out the request.
final class Lifecycle: @unchecked Sendable {  // a mutex, and atomics
    /// The requests of the engine's own thread; the greater one wins.
    enum HaltRequest: Int {
        case pause = 1
        case stop = 2
    }

    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let requested = Atomic(0)
    /// The engine's own thread while it works; otherwise 0.
    private let worker = Atomic<UInt>(0)

    init() { pthread_mutex_init(mutex, nil) }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    /// Runs one pass of the engine's own thread.
    func work(_ body: () -> Void) {
        let me = UInt(pthread_self())
        worker.store(me, ordering: .relaxed)
        body()
        _ = worker.compareExchange(expected: me, desired: 0, ordering: .relaxed)
    }

    var isOwnThread: Bool { worker.load(ordering: .relaxed) == UInt(pthread_self()) }

    /// Waits for the lock. Returns false on the engine's own thread if another thread holds it, because that thread must not wait.
    func enter() -> Bool {
        if isOwnThread { return pthread_mutex_trylock(mutex) == 0 }
        pthread_mutex_lock(mutex)
        return true
    }

    /// Leaves a request to the thread that holds the lock, or to the next one.
    func request(_ haltRequest: HaltRequest) {
        var known = requested.load(ordering: .relaxed)
        while known < haltRequest.rawValue {
            let result = requested.compareExchange(
                expected: known, desired: haltRequest.rawValue, ordering: .sequentiallyConsistent)
            if result.exchanged { return }
            known = result.original
        }
    }

    /// Carries out the requests made meanwhile and releases the lock.
    func leave(_ fulfil: (HaltRequest) -> Void) {
        repeat {
            if let haltRequest = HaltRequest(rawValue: requested.exchange(0, ordering: .sequentiallyConsistent)) {
                fulfil(haltRequest)
            }
            pthread_mutex_unlock(mutex)
        } while requested.load(ordering: .sequentiallyConsistent) != 0 && pthread_mutex_trylock(mutex) == 0
    }
}
