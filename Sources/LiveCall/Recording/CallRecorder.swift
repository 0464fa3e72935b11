// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioFiles
import EarshotCall
import EarshotDuet

/// Runs a recording on a thread that may wait for the disk. For any thread except real-time threads.
final class CallRecorder: Sendable {
    /// Milliseconds between two turns of the thread.
    private static let interval = 150
    /// The maximum number of states that wait for the thread; later ones replace the last.
    private static let stateLimit = 256

    private let thread: ServiceThread
    private let worker: Worker

    /// The state that the thread reads.
    private struct Inbox: Sendable {
        /// The states since the last turn, each with the time from which on it holds.
        var states: [(state: RecordedCallState, time: HostTime)] = []
        var latest: RecordedCallState
        var isEnding = false
        /// The takes to begin; nil to end one.
        var takes: [SongLog?] = []
    }

    /// The work of the thread.
    private final class Worker: @unchecked Sendable {  // for the recorder's thread, then for the one that ends it
        let writer: CallRecordingWriter
        let report: @Sendable (Report) -> Void
        let inbox: LockedValue<Inbox>  // any thread
        var isOver = false
        var isTagged = false

        init(
            _ writer: CallRecordingWriter, _ state: RecordedCallState, _ report: @escaping @Sendable (Report) -> Void
        ) {
            self.writer = writer
            self.report = report
            inbox = LockedValue(Inbox(states: [(state, HostTime.now())], latest: state))
        }

        /// Returns false if the recording is over.
        func work() -> Bool {
            let isEnding = update()
            writer.writeArrivedSound(at: .now())
            for error in writer.takeErrors() { report(.failed(error)) }
            guard isEnding || writer.isOver else { return true }
            finish()
            tag()
            return false
        }

        /// Passes the new states to the writer. Returns true if the recording is to end.
        private func update() -> Bool {
            let (states, takes, isEnding) = inbox.withLock { inbox in
                defer { (inbox.states, inbox.takes) = ([], []) }
                return (inbox.states, inbox.takes, inbox.isEnding)
            }
            for (state, time) in states { writer.update(state, at: time) }
            for log in takes { if let log { writer.beginTake(log) } else { endTake() } }
            return isEnding
        }

        /// Ends a take with the sound that was captured until now.
        private func endTake() {
            writer.writeArrivedSound(at: .now())
            writer.endTake()
        }

        func finish() {
            guard !isOver else { return }
            isOver = true
            _ = update()
            let result = writer.finish(at: .now())
            for error in writer.takeErrors() { report(.failed(error)) }
            report(.ended(result))
        }

        func tag() {
            guard !isTagged else { return }
            isTagged = true
            writer.tagFiles()
        }
    }

    /// A report of the recorder's thread.
    enum Report: Sendable {
        /// A file ended early, or a participant cannot be recorded.
        case failed(CallRecordingError)
        /// The recording has ended, and its files are complete. This is the last report.
        case ended(CallRecordingResult)
    }

    /// - Parameter report: is called on the recorder's thread, or on the one that calls ``finish()``.
    init(
        _ writer: sending CallRecordingWriter, state: RecordedCallState, report: @escaping @Sendable (Report) -> Void
    ) {
        let worker = Worker(writer, state, report)
        self.worker = worker
        thread = ServiceThread(name: "call recorder", interval: Self.interval) { worker.work() }
    }

    deinit { thread.stop() }

    /// Starts the thread. Returns 0 or an errno.
    func start() -> Int32 { thread.start() }

    /// Passes on the state of the call.
    func update(_ state: RecordedCallState, at now: HostTime) {
        worker.inbox.withLock { inbox in
            guard state != inbox.latest else { return }
            let isNews = !state.recordsSame(as: inbox.latest)
            inbox.latest = state
            if let last = inbox.states.indices.last, !isNews || inbox.states.count == Self.stateLimit {
                inbox.states[last].state = state
            } else {
                inbox.states.append((state, now))
            }
        }
    }

    /// Begins a take of a song; nil to end it.
    func setTake(_ log: SongLog?) {
        worker.inbox.withLock { $0.takes.append(log) }
        thread.handle.wake()
    }

    /// Ends the recording on its thread.
    func end() {
        worker.inbox.withLock { $0.isEnding = true }
        thread.handle.wake()
    }

    /// Ends the recording, and waits until its files are complete. Call ``tagFiles()`` next.
    func finish() {
        thread.stop()
        worker.finish()
    }

    /// Writes the tags of the complete files, and waits for it.
    func tagFiles() { worker.tag() }
}
