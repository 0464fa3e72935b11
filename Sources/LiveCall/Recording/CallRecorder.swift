// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioFiles
import EarshotCall

/// A running recording: the thread that reads the call and waits for the disk. Any thread that may wait for a lock.
final class CallRecorder: Sendable {
    /// The milliseconds between two turns: a killed program loses them, besides the recording's own delay.
    private static let interval = 150

    private let thread: ServiceThread
    private let turns: Turns

    /// The state that the thread reads.
    private struct Inbox: Sendable {
        var party: RecordingParty
        var isEnding = false
    }

    /// The work of the thread.
    private final class Turns: @unchecked Sendable {  // for the recorder's thread, then for the one that ends it
        let writer: CallRecordingWriter
        let report: @Sendable (Report) -> Void
        let inbox: LockedValue<Inbox>  // any thread
        var isOver = false

        init(
            _ writer: CallRecordingWriter, _ party: RecordingParty, _ report: @escaping @Sendable (Report) -> Void
        ) {
            self.writer = writer
            self.report = report
            inbox = LockedValue(Inbox(party: party))
        }

        /// Returns false if the recording is over.
        func work() -> Bool {
            let inbox = inbox.withLock { $0 }
            writer.update(inbox.party)
            writer.work(at: .now())
            for error in writer.takeErrors() { report(.failed(error)) }
            if inbox.isEnding || writer.isOver { finish() }
            return !isOver
        }

        func finish() {
            guard !isOver else { return }
            isOver = true
            let result = writer.finish(at: .now())
            for error in writer.takeErrors() { report(.failed(error)) }
            report(.ended(result))
        }
    }

    /// A report of the recorder's thread.
    enum Report: Sendable {
        /// A file ended early.
        case failed(AudioFileError)
        /// The recording has ended. This is the last report.
        case ended(CallRecordingResult)
    }

    /// - Parameter report: is called on the recorder's thread, or on the one that calls ``finish()``.
    init(_ writer: sending CallRecordingWriter, party: RecordingParty, report: @escaping @Sendable (Report) -> Void) {
        let turns = Turns(writer, party, report)
        self.turns = turns
        thread = ServiceThread(name: "call recorder", interval: Self.interval) { turns.work() }
    }

    deinit { thread.stop() }

    /// Starts the thread. Returns 0 or an errno.
    func start() -> Int32 { thread.start() }

    /// Passes on the present state of the room.
    func update(_ party: RecordingParty) { turns.inbox.withLock { $0.party = party } }

    /// Ends the recording on its thread.
    func end() {
        turns.inbox.withLock { $0.isEnding = true }
        thread.handle.wake()
    }

    /// Ends the recording, and waits until its files are complete.
    func finish() {
        thread.stop()
        turns.finish()
    }
}
