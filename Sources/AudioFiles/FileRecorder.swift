// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Synchronization

/// Records a ring buffer into a sound file, on its own thread.
///
/// Frame n of the file is frame n offered to the ring; lost frames (an overrun, or frames that the device skipped) are silence
/// and counted. An error, such as a full disk, ends the recording and is kept; the ring then overruns without delaying its
/// writer. Call all methods on the control thread.
public final class FileRecorder: Sendable {
    private let worker: Worker
    private let thread: ServiceThread

    /// - Parameters:
    ///   - file: a new file with the ring's channels, owned by the recorder from now on.
    ///   - ring: a new ring; the recorder is its only reader and retains it. Half a second or more compensates for a slow disk.
    public convenience init(_ file: sending any SoundFileWriter, from ring: AudioRing) {
        self.init(file, from: ring, maximumFrameCount: .max)
    }

    /// - Parameter maximumFrameCount: the maximum number of frames in the file; later frames are discarded.
    package init(_ file: sending any SoundFileWriter, from ring: AudioRing, maximumFrameCount: Int) {
        precondition(file.format.channelCount == ring.channelCount && file.frameCount == 0)
        let worker = Worker(writer: file, ring: ring, limit: maximumFrameCount)
        self.worker = worker
        thread = ServiceThread(name: "file recorder") { worker.drain() }
    }

    deinit { stop() }

    /// Starts the thread. Call it once.
    /// - Throws: ``AudioFileError/system(path:code:)`` if the system has no thread left.
    public func start() throws(AudioFileError) {
        let code = thread.start()
        if code != 0 { throw .system(path: "file recorder", code: code) }
    }

    /// Stops the thread, writes the remaining frames and closes the file. A second call does nothing.
    ///
    /// Stop the ring's writer before: frames offered meanwhile may be lost.
    public func stop() {
        thread.stop()
        worker.finish()
    }

    /// Wakes the thread before its wait of 20 ms is over; safe on the render thread. The handle must not outlive the recorder.
    package var wakeup: Wakeup.Handle { thread.handle }

    /// The number of frames in the file, with the silence for lost frames. Any thread.
    public var frameCount: Int { worker.writtenFrames.load(ordering: .relaxed) }

    /// The number of lost frames, which are silence in the file. Any thread.
    public var lostFrameCount: Int { worker.lostFrames.load(ordering: .relaxed) }

    /// The number of gaps with lost frames. Any thread.
    public var gapCount: Int { worker.gaps.load(ordering: .relaxed) }

    /// The error that ended the recording early; nil if there was none. Any thread.
    public var error: AudioFileError? { worker.error.withLock { $0 } }

    // The recorder's thread owns all members except the atomics; after the thread's end the caller owns them.
    private final class Worker: @unchecked Sendable {
        let writtenFrames = Atomic(0)
        let lostFrames = Atomic(0)
        let gaps = Atomic(0)
        let error = Mutex<AudioFileError?>(nil)
        private let writer: any SoundFileWriter
        private let ring: AudioRing
        private let buffer: AudioBuffer
        private let limit: Int
        private var ended = false

        init(writer: any SoundFileWriter, ring: AudioRing, limit: Int) {
            self.limit = limit
            self.writer = writer
            self.ring = ring
            buffer = AudioBuffer(channelCount: ring.channelCount, frameCapacity: 4096)
        }

        /// Writes the frames in the ring. Returns false if the recording has ended.
        func drain() -> Bool {
            guard !ended else { return false }
            do {
                while true {
                    let slice = ring.reader.read(buffer.channels, frameCount: buffer.frameCapacity)
                    if slice.frameCount == 0 { return true }
                    try fillGap(before: slice.position)
                    let count = min(slice.frameCount, limit - writer.frameCount)
                    if count > 0 { try writer.write(buffer.channels, frameCount: count, offset: 0) }
                    writtenFrames.store(writer.frameCount, ordering: .relaxed)
                }
            } catch {
                end(error)
                return false
            }
        }

        /// Writes the remaining frames and closes the file.
        func finish() {
            guard drain() else { return }
            do {
                try fillGap(before: ring.reader.offeredFrames)
                try writer.close()
                ended = true
            } catch { end(error) }
        }

        private func fillGap(before position: Int) throws(AudioFileError) {
            let gap = min(position, limit) - writer.frameCount
            guard gap > 0 else { return }
            lostFrames.add(gap, ordering: .relaxed)
            gaps.add(1, ordering: .relaxed)
            try writer.writeSilence(frameCount: gap)
            writtenFrames.store(writer.frameCount, ordering: .relaxed)
        }

        private func end(_ error: AudioFileError) {
            ended = true
            try? writer.close()
            writtenFrames.store(writer.frameCount, ordering: .relaxed)
            self.error.withLock { $0 = error }
        }
    }
}
