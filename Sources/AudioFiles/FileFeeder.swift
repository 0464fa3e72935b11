// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Synchronization

/// Plays a file into a ring buffer at the rate of its reader: its own thread reads ahead and keeps the ring full.
///
/// The file is converted to the rate and channel count (``ConvertedFileReader``). After the file's end nothing is written, and
/// the ring's reader gets silence. Call all methods on the control thread.
public final class FileFeeder: Sendable {
    private let worker: Worker
    private let thread: ServiceThread

    /// - Parameters:
    ///   - file: owned by the feeder from now on.
    ///   - ring: the feeder is its only writer and retains it. Half a second is a good size.
    ///   - sampleRate: the ring's rate in hertz.
    public init(_ file: sending any SoundFileReader, into ring: AudioRing, sampleRate: Double) {
        let format = AudioFormat(sampleRate: sampleRate, channelCount: ring.channelCount)
        let worker = Worker(source: ConvertedFileReader(file, as: format), ring: ring)
        self.worker = worker
        thread = ServiceThread(name: "file feeder") { worker.fill() }
    }

    deinit { thread.stop() }

    /// The number of frames of the whole file at the ring's rate, by the file's header.
    public var frameCount: Int { worker.frameCount }

    /// Fills the ring, so that the first render finds it full.
    /// - Precondition: the feeder was not started.
    public func prime() { _ = worker.fill() }

    /// Starts the thread. Call it once.
    /// - Throws: ``AudioFileError/system(path:code:)`` if the system has no thread left.
    public func start() throws(AudioFileError) {
        let code = thread.start()
        if code != 0 { throw .system(path: "file feeder", code: code) }
    }

    /// Stops the thread and waits for it; the ring keeps its frames. A second call does nothing.
    public func stop() { thread.stop() }

    /// Wakes the thread before its wait of 20 ms is over; safe on the render thread. The handle must not outlive the feeder.
    package var wakeup: Wakeup.Handle { thread.handle }

    /// True if the file's last frame is in the ring, or reading failed. Any thread.
    public var isAtEnd: Bool { worker.ended.load(ordering: .acquiring) }

    /// The number of frames written to the ring so far. Any thread.
    package var framesFed: Int { worker.fed.load(ordering: .relaxed) }

    /// The error that ended reading before the file's end; nil if there was none. Any thread.
    public var error: AudioFileError? { worker.error.withLock { $0 } }

    // The caller's thread owns `source` and `buffer` until the feeder's thread starts; then the feeder's thread owns them.
    private final class Worker: @unchecked Sendable {
        let ended = Atomic(false)
        let fed = Atomic(0)
        let error = Mutex<AudioFileError?>(nil)
        let frameCount: Int
        private let source: ConvertedFileReader
        private let ring: AudioRing
        private let buffer: AudioBuffer

        init(source: ConvertedFileReader, ring: AudioRing) {
            self.source = source
            self.ring = ring
            frameCount = source.frameCount
            buffer = AudioBuffer(channelCount: ring.channelCount, frameCapacity: min(ring.capacity, 4096))
        }

        /// Fills the room in the ring, and no more, since a rejected block would be a gap. Returns true if frames remain.
        func fill() -> Bool {
            while !ended.load(ordering: .relaxed) {
                let room = min(ring.capacity - ring.writer.heldFrames, buffer.frameCapacity)
                if room == 0 { return true }
                do {
                    let frames = try source.read(into: buffer.channels, frameCount: room)
                    if frames > 0 { ring.writer.write(buffer.channels, frameCount: frames) }
                    fed.add(frames, ordering: .relaxed)
                    if frames < room { ended.store(true, ordering: .releasing) }
                } catch {
                    self.error.withLock { $0 = error }
                    ended.store(true, ordering: .releasing)
                }
            }
            return false
        }
    }
}
