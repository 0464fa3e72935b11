// SPDX-License-Identifier: Apache-2.0

import CEarshotAvahi
import CEarshotRealtime
import Dispatch
import EarshotAudioBase
import Foundation
import Synchronization

/// A thread, `discovery`, on which libavahi is used: it takes one thread at a time, and its calls wait for the daemon.
///
/// Members are for any thread; none waits for the daemon but ``stop()``, and that for a second at most.
final class AvahiLoop: Sendable {
    private let isStopping = Atomic(false)
    private let wakeup = Wakeup()
    private let ended = DispatchSemaphore(value: 0)

    /// Starts the thread.
    /// - Parameter makeWork: makes, on the thread, what is to be done there. It must not own this loop's owner.
    init(_ makeWork: @escaping @Sendable () -> any AvahiClientDelegate) {
        // Unsafe in this file: the poll of libavahi, made and freed on this thread.
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
        // Its own wake-up is lost when it comes between the last look at what is wanted and the poll.
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

    /// Makes the thread apply the requested state.
    func wake() { wakeup.handle.wake() }

    /// Makes the thread withdraw all services and end. Returns when it has ended, or after a second if the daemon does not answer;
    /// the thread then ends after the daemon's answer.
    func stop() {
        guard !isStopping.exchange(true, ordering: .sequentiallyConsistent) else { return }
        wake()
        _ = ended.wait(timeout: .now() + 1)
    }
}
