import CRealtime
import Synchronization

/// A thread that does a piece of work again and again, sooner when woken, until it is stopped or the work says that it is done.
///
/// Any thread but a render thread.
public final class ServiceThread: Sendable {
    private let wakeup: Wakeup
    private let stopping = Atomic(false)
    private let thread = Guarded<pthread_t?>(nil)
    private let name: String
    private let work: @Sendable () -> Bool
    private let interval: Int

    /// - Parameters:
    ///   - name: at most 15 bytes; what `top -H` shows.
    ///   - interval: milliseconds from the end of the work to its next beginning.
    ///   - wakeup: what wakes it before its time; one of its own unless said otherwise.
    ///   - work: returns whether to come again. It must not own this thread's owner, or neither is ever freed.
    public init(
        name: String, interval: Int = 20, wakeup: Wakeup = Wakeup(), work: @escaping @Sendable () -> Bool
    ) {
        self.name = name
        self.interval = interval
        self.wakeup = wakeup
        self.work = work
    }

    /// For whoever wants the work done soon.
    public var handle: Wakeup.Handle { wakeup.handle }

    /// Starts the thread; once. Returns 0 or an errno.
    public func start() -> Int32 {
        thread.withLock { thread in
            precondition(thread == nil, "started twice")
            var new = pthread_t()
            let box = Unmanaged.passRetained(self)
            let code = pthread_create(
                &new, nil,
                { context in
                    guard let context else { return nil }
                    let me = Unmanaged<ServiceThread>.fromOpaque(context).takeRetainedValue()
                    earshot_name_thread(me.name)
                    me.run()
                    return nil
                }, box.toOpaque())
            if code == 0 { thread = new } else { box.release() }
            return code
        }
    }

    private func run() {
        while !stopping.load(ordering: .acquiring), work() {
            wakeup.prepareToSleep()
            if stopping.load(ordering: .sequentiallyConsistent) { break }
            var descriptor = pollfd(fd: wakeup.fileDescriptor, events: Int16(POLLIN), revents: 0)
            poll(&descriptor, 1, CInt(interval))
            wakeup.wokeUp()
        }
    }

    /// Stops the thread and waits until it has ended, unless it is the caller; nothing where it does not run.
    public func stop() {
        thread.withLock { thread in
            guard let running = thread else { return }
            stopping.store(true, ordering: .sequentiallyConsistent)
            wakeup.handle.wake()
            if pthread_equal(running, pthread_self()) != 0 {
                pthread_detach(running)
            } else {
                pthread_join(running, nil)
            }
            thread = nil
        }
    }
}
