// SPDX-License-Identifier: Apache-2.0

import CEarshotAvahi
import CEarshotRealtime
import Dispatch
import EarshotAudioBase
import Foundation
import Synchronization

/// The thread of libavahi, `discovery`: libavahi is not thread-safe, and its calls wait for the daemon.
///
/// Members are for any thread and do not wait, except ``stop()``, which waits a second at most.
final class AvahiLoop: Sendable {
    private let isStopping = Atomic(false)
    private let wakeup = Wakeup()
    private let ended = DispatchSemaphore(value: 0)

    /// Starts the thread.
    /// - Parameter makeWork: makes the thread's work, on the thread. It must not retain this loop's owner.
    init(_ makeWork: @escaping @Sendable () -> any AvahiClientDelegate) {
        // Unsafe in this file: libavahi's poll, created and freed on this thread.
        Thread.detachNewThread { [self] in
            unsafe earshot_name_thread("discovery")
            run(makeWork())
            ended.signal()
        }
    }

    private func run(_ work: any AvahiClientDelegate) {
        guard let poll = unsafe avahi_simple_poll_new(), let api = unsafe avahi_simple_poll_get(poll) else {
            return work.becameUnavailable(.refused(reason: "out of memory"))
        }
        defer { unsafe avahi_simple_poll_free(poll) }
        // libavahi's own wake-up is lost if it comes between reading the state and the poll.
        let watch = unsafe api.pointee.watch_new(api, wakeup.fileDescriptor, AVAHI_WATCH_IN, { _, _, _, _ in }, nil)
        guard unsafe watch != nil else { return work.becameUnavailable(.refused(reason: "out of memory")) }
        let connection = unsafe AvahiConnection(poll, work)
        while true {
            wakeup.prepareToSleep()
            if isStopping.load(ordering: .sequentiallyConsistent) { break }
            connection.step()
            wakeup.wokeUp()
        }
        connection.close()
    }

    /// Wakes the thread, which then calls ``AvahiClientDelegate/update()``.
    func wake() { wakeup.handle.wake() }

    /// Makes the thread withdraw all services and end. Returns when the thread has ended, or after a second if the daemon does
    /// not answer; the thread then ends after the daemon's answer.
    func stop() {
        guard !isStopping.exchange(true, ordering: .sequentiallyConsistent) else { return }
        wake()
        _ = ended.wait(timeout: .now() + 1)
    }
}
