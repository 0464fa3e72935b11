// SPDX-License-Identifier: Apache-2.0

import CEarshotJACK
import CEarshotRealtime
import Foundation
import Synchronization

/// The only thread of this process that calls libjack, except libjack's own.
///
/// libjack waits forever on its socket while its server is suspended. A call that times out is given up: its caller continues,
/// and its result is undone once it returns. Until then every other call fails at once.
final class JACKThread: Sendable {
    /// The maximum seconds of a call.
    static let deadline = 2.0
    /// The error of a call that timed out.
    static let overdue = AudioDeviceError.stalled(device: "the JACK server", seconds: deadline)

    private typealias Job = @Sendable () -> Void
    private struct State {
        var queue: [Job] = []
        var busySince: Int64?  // nanoseconds: of the job that runs
        var thread: pthread_t?
    }
    private enum Outcome<R: Sendable>: Sendable {
        case awaited
        case there(R)
        case givenUp
    }
    private final class Box<R: Sendable>: Sendable {
        let outcome = Mutex(Outcome<R>.awaited)
        let isFinished = DispatchSemaphore(value: 0)
    }

    private static let shared = JACKThread()
    private let state = Mutex(State())
    private let wakeup = DispatchSemaphore(value: 0)

    /// Runs a call and waits for it.
    /// - Parameter undo: runs on this thread if the result came too late, instead of returning it.
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
                outcome = .there(result)
                return false
            }
            if isLate { undo(result) } else { box.isFinished.signal() }
        }
        _ = box.isFinished.wait(timeout: .now() + deadline)
        let outcome = box.outcome.withLock { outcome in
            if case .awaited = outcome { outcome = .givenUp }
            return outcome
        }
        guard case .there(let result) = outcome else { throw overdue }
        return result
    }

    /// Runs a closing operation after all earlier calls, however long they take.
    /// - Parameter waits: true to wait until it is done, or has timed out.
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

    /// Returns true slightly before the deadline, because a call is posted slightly before it runs.
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

    /// Runs until the process ends.
    fileprivate func run() {
        earshot_name_thread("jack-calls")
        // libjack writes to sockets whose server may have ended. Its threads inherit this signal mask.
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
