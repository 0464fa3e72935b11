// SPDX-License-Identifier: Apache-2.0

import CEarshotJACK
import CEarshotRealtime
import Foundation
import Synchronization

/// The only thread of this process that calls libjack, except libjack's own.
///
/// libjack waits forever on its socket while its server is suspended. A call that times out is given up: the caller continues,
/// and the call's result is undone once libjack returns. Until then every other call fails at once.
final class JACKThread: Sendable {
    /// The maximum seconds that a caller waits for a call.
    static let deadline = 2.0
    /// The error of a call that timed out.
    static let overdue = AudioDeviceError.stalled(device: "the JACK server", seconds: deadline)

    private typealias Job = @Sendable () -> Void
    private struct State {
        var queue: [Job] = []
        var busySince: Int64?  // the start of the running job in nanoseconds; nil while none runs
        var thread: pthread_t?
    }
    private enum Outcome<R: Sendable>: Sendable {
        case awaited
        case finished(R)
        case givenUp
    }
    private final class Box<R: Sendable>: Sendable {
        let outcome = Mutex(Outcome<R>.awaited)
        let isFinished = DispatchSemaphore(value: 0)
    }

    private static let shared = JACKThread()
    private let state = Mutex(State())
    private let wakeup = DispatchSemaphore(value: 0)

    /// Runs `body` on the ``JACKThread`` and returns its result.
    /// - Parameter undo: gets a result that came too late to be returned, on the ``JACKThread``.
    /// - Throws: ``overdue``, ``AudioDeviceError/noThread(code:)``.
    static func call<R: Sendable>(
        undo: @escaping @Sendable (R) -> Void = { _ in }, _ body: @escaping @Sendable () -> R
    ) throws(AudioDeviceError) -> R {
        if shared.isCurrent { return body() }
        if shared.isOverdue { throw overdue }
        let box = Box<R>()
        try shared.post {
            let isWanted = box.outcome.withLock { if case .givenUp = $0 { false } else { true } }
            guard isWanted else { return }
            let result = body()
            let isLate = box.outcome.withLock { outcome in
                if case .givenUp = outcome { return true }
                outcome = .finished(result)
                return false
            }
            if isLate { undo(result) } else { box.isFinished.signal() }
        }
        _ = box.isFinished.wait(timeout: .now() + deadline)
        let outcome = box.outcome.withLock { outcome in
            if case .awaited = outcome { outcome = .givenUp }
            return outcome
        }
        guard case .finished(let result) = outcome else { throw overdue }
        return result
    }

    /// Runs a closing operation on the ``JACKThread``, after all earlier calls, however long they take.
    /// - Parameter waits: true to wait for the operation's end, at most for ``deadline``; not while an earlier call is overdue.
    static func finish(waits: Bool = true, _ body: @escaping @Sendable () -> Void) {
        if shared.isCurrent { return body() }
        let waits = waits && !shared.isOverdue
        let isDone = DispatchSemaphore(value: 0)
        guard
            (try? shared.post {
                body()
                isDone.signal()
            }) != nil
        else { return }
        if waits { _ = isDone.wait(timeout: .now() + deadline) }
    }

    private var isCurrent: Bool {
        state.withLock { state in state.thread.map { pthread_equal($0, pthread_self()) != 0 } ?? false }
    }

    /// True if the running call has taken almost as long as ``deadline``. A little less counts as overdue, because a call is
    /// posted slightly before it runs.
    private var isOverdue: Bool {
        let now = earshot_monotonic_ns()
        return state.withLock { state in state.busySince.map { Double(now - $0) > Self.deadline * 0.95e9 } ?? false }
    }

    private func post(_ job: @escaping Job) throws(AudioDeviceError) {
        let code = state.withLock { state -> CInt in
            if state.thread == nil {
                var new = pthread_t()
                let code = earshot_start_thread(&new, runJACKThread, Unmanaged.passUnretained(self).toOpaque())
                guard code == 0 else { return code }
                state.thread = new
            }
            state.queue.append(job)
            return 0
        }
        guard code == 0 else { throw .noThread(code: Int(code)) }
        wakeup.signal()
    }

    /// Runs the queued calls until the process ends.
    fileprivate func run() {
        earshot_name_thread("jack-calls")
        // libjack writes to sockets whose server may have ended, so SIGPIPE is blocked. libjack's threads inherit this mask.
        earshot_jack_block_sigpipe()
        while true {
            wakeup.wait()
            let job = state.withLock { state -> Job? in
                guard !state.queue.isEmpty else { return nil }
                state.busySince = earshot_monotonic_ns()
                return state.queue.removeFirst()
            }
            job?()
            state.withLock { $0.busySince = nil }
        }
    }
}

private func runJACKThread(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    if let argument { Unmanaged<JACKThread>.fromOpaque(argument).takeUnretainedValue().run() }
    return nil
}
