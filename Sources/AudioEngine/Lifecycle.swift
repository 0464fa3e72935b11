// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization

/// Serializes start, pause, resume and stop of an engine.
///
/// A thread that stops the engine waits for the engine's own thread. Therefore the engine's own thread never waits for the lock:
/// if another thread holds the lock, the other thread carries out the request.
final class Lifecycle: @unchecked Sendable {  // a mutex, and atomics
    /// A request of the engine's own thread; of two pending requests the greater wins.
    enum HaltRequest: Int {
        case pause = 1
        case stop = 2
    }

    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let pendingRequest = Atomic(0)
    /// The `pthread_t` of the engine's own thread while it runs a pass; otherwise 0.
    private let passThread = Atomic<UInt>(0)

    init() { pthread_mutex_init(mutex, nil) }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    /// Runs one pass of the engine's own thread.
    func work(_ body: () -> Void) {
        let currentThread = UInt(pthread_self())
        passThread.store(currentThread, ordering: .relaxed)
        body()
        _ = passThread.compareExchange(expected: currentThread, desired: 0, ordering: .relaxed)
    }

    var isOwnThread: Bool { passThread.load(ordering: .relaxed) == UInt(pthread_self()) }

    /// Acquires the lock. Returns false on the engine's own thread if another thread holds the lock, because the engine's own
    /// thread must not wait.
    func enter() -> Bool {
        if isOwnThread { return pthread_mutex_trylock(mutex) == 0 }
        pthread_mutex_lock(mutex)
        return true
    }

    /// Records a request for the thread that holds the lock, or for the next thread that acquires the lock.
    func request(_ haltRequest: HaltRequest) {
        var known = pendingRequest.load(ordering: .relaxed)
        while known < haltRequest.rawValue {
            let result = pendingRequest.compareExchange(
                expected: known, desired: haltRequest.rawValue, ordering: .sequentiallyConsistent)
            if result.exchanged { return }
            known = result.original
        }
    }

    /// Carries out the pending requests by `fulfil` and releases the lock.
    func leave(_ fulfil: (HaltRequest) -> Void) {
        repeat {
            if let haltRequest = HaltRequest(rawValue: pendingRequest.exchange(0, ordering: .sequentiallyConsistent)) {
                fulfil(haltRequest)
            }
            pthread_mutex_unlock(mutex)
        } while pendingRequest.load(ordering: .sequentiallyConsistent) != 0 && pthread_mutex_trylock(mutex) == 0
    }
}
