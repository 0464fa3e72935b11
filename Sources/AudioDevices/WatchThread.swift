import AudioBase
import CRealtime
import Synchronization

/// A thread that does a piece of work ten times a second until it is stopped.
final class WatchThread: Sendable {
    private let work: @Sendable () -> Void
    private let wakeup = Wakeup()
    private let isStopping = Atomic(false)
    private let thread = Mutex<pthread_t?>(nil)
    private static let interval: CInt = 100  // milliseconds

    /// - Parameter work: must not own this thread's owner, or neither is ever freed.
    init(_ work: @escaping @Sendable () -> Void) { self.work = work }

    /// Once. Returns 0 or an errno.
    func start() -> CInt {
        thread.withLock { thread in
            var new = pthread_t()
            let me = Unmanaged.passRetained(self)
            let code = earshot_start_thread(&new, runWatchThread, me.toOpaque())
            if code == 0 { thread = new } else { me.release() }
            return code
        }
    }

    /// Waits until the thread has ended; called by it, it only tells it to end.
    func stop() {
        thread.withLock { thread in
            guard let running = thread else { return }
            isStopping.store(true, ordering: .sequentiallyConsistent)
            wakeup.handle.wake()
            if pthread_equal(running, pthread_self()) != 0 {
                pthread_detach(running)
            } else {
                pthread_join(running, nil)
            }
            thread = nil
        }
    }

    fileprivate func run() {
        earshot_name_thread("callback-watch")
        while !isStopping.load(ordering: .acquiring) {
            work()
            wakeup.prepareToSleep()
            if isStopping.load(ordering: .sequentiallyConsistent) { break }
            var descriptor = pollfd(fd: wakeup.fileDescriptor, events: Int16(POLLIN), revents: 0)
            poll(&descriptor, 1, Self.interval)
            wakeup.wokeUp()
        }
    }
}

private func runWatchThread(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    if let context { Unmanaged<WatchThread>.fromOpaque(context).takeRetainedValue().run() }
    return nil
}
