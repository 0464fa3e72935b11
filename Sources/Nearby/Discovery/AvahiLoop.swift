import CAvahi
import CRealtime
import Dispatch
import Foundation
import Synchronization

/// A thread, `discovery`, on which libavahi is used: it takes one thread at a time, and its calls wait for the daemon.
///
/// Members are for any thread; none waits for the daemon but ``stop()``, and that for a second at most.
final class AvahiLoop: Sendable {
    private struct State {
        var poll: OpaquePointer?
        var isStopping = false
    }
    private let state = Mutex(State())
    private let ended = DispatchSemaphore(value: 0)

    /// Starts the thread.
    /// - Parameter makeWork: makes, on the thread, what is to be done there. It must not own this loop's owner.
    init(_ makeWork: @escaping @Sendable () -> any AvahiWork) {
        Thread.detachNewThread { [self] in
            earshot_name_thread("discovery")
            run(makeWork())
            ended.signal()
        }
    }

    private func run(_ work: any AvahiWork) {
        guard let poll = avahi_simple_poll_new() else {
            return work.becameUnavailable(.refused(reason: "out of memory"))
        }
        let isWanted = state.withLock { state in
            if !state.isStopping { state.poll = poll }
            return !state.isStopping
        }
        if isWanted {
            let connection = AvahiConnection(poll, work)
            repeat { connection.step() } while !state.withLock { $0.isStopping }
            connection.close()
        }
        state.withLock { $0.poll = nil }
        avahi_simple_poll_free(poll)
    }

    /// Has the work look at what is wanted now.
    func wake() { state.withLock { if let poll = $0.poll { avahi_simple_poll_wakeup(poll) } } }

    /// Has the thread withdraw all and end. Returns when it has; where the daemon does not answer after a second, and the
    /// thread ends by itself when it does.
    func stop() {
        let isFirst = state.withLock { state in
            defer { state.isStopping = true }
            return !state.isStopping
        }
        guard isFirst else { return }
        wake()
        _ = ended.wait(timeout: .now() + 1)
    }
}
