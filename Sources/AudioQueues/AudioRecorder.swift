// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP
import EarshotAudioEngine
import EarshotAudioFiles
import Glibc

/// An operation that an ``AudioRecorder`` refused.
public enum AudioRecorderError: Error, Sendable, CustomStringConvertible {
    /// A file cannot be created, or its recording has ended early.
    case file(AudioFileError)
    /// The queue could not be made or started.
    case queue(AudioQueueError)
    /// The recorder was stopped; its files are finished.
    case stopped

    /// One sentence that says what happened.
    public var description: String {
        switch self {
        case .file(let error): error.description
        case .queue(let error): error.description
        case .stopped: "the recorder was stopped, and its files are finished"
        }
    }
}

/// Records what a node gives into files, of several kinds at once (`AVAudioRecorder`).
///
/// ```swift
/// let recorder = try AudioRecorder(path: "take.mp3", format: format, on: engine)
/// try engine.start(on: device)
/// try recorder.record()
/// …
/// try recorder.stop()
/// ```
/// Encoding and writing happen on the queue's own thread, in manual rendering on the caller's. Frames that were lost on the way
/// are silence in the files, so that they keep time. A file that fails, as on a full disk, ends by itself; the others go on.
/// Any thread, but a render thread.
public final class AudioRecorder: Sendable {
    /// The rules for removing silence.
    public struct SilenceTrimming: Hashable, Sendable {
        /// The level in dBFS below which all channels are silent.
        public var threshold: Float
        /// Seconds of silence that stay, behind a sound and before the next; 600 at most, and what is more is brought to it.
        public var kept: Double
        /// Trimming by these values.
        public init(threshold: Float = -60, kept: Double = 0.25) {
            self.threshold = threshold
            self.kept = kept
        }
        var gain: Float { decibelsToGain(threshold) }
    }

    /// The differences from a plain recording.
    public struct Options: Hashable, Sendable {
        /// Seconds before the first ``AudioRecorder/record(at:forDuration:)`` that are in the file, as far as there were any since
        /// ``AudioRecorder/prepareToRecord()``; kept in memory, so 600 at most, and what is more is brought to it.
        public var preRoll = 0.0
        /// Seconds after which a new file begins, without a frame between; nil for one file. Files are numbered,
        /// ``AudioRecorderFile/path(ofPart:)``.
        public var partDuration: Double?
        /// The first file's number if the recording is divided by `partDuration`.
        public var firstPart = 1
        /// The removal of silence; nil for none.
        public var silence: SilenceTrimming?
        /// The plainest recording.
        public init() {}
    }

    /// The progress of a file.
    public struct FileProgress: Equatable, Sendable {
        /// Its parts so far, or the one path.
        public var paths: [String]
        /// Frames written, at the recorder's rate.
        public var frameCount: Int
        /// The error that ended it early, such as a full disk.
        public var error: AudioFileError?
    }

    /// The format of the files.
    public let format: AudioFormat
    /// The queue that captures; its meter works from ``prepareToRecord()`` on.
    public let queue: AudioInputQueue

    private let state: LockedValue<RecorderState>
    /// The values that are read without waiting for a busy disk.
    private let seen: LockedValue<Seen>
    private struct Seen {
        /// Not taken note of yet.
        var switches: [RecorderState.Switch] = []
        var isOn = false
        var isClosed = false
        var frameCount = 0
        var elapsed = 0
        var lost = 0
        var trimmed = 0
        var peak: Float = 0
        var files: [FileProgress]
    }
    /// Seconds that a disk or the reader of a pipe may be busy before frames are lost: more than the timeout of a pipe, so that
    /// files beside it lose none.
    private static let bufferDuration = 0.125
    private static let bufferCount = 48

    /// Creates or empties the files; if one of them cannot be created, none is touched.
    /// - Parameters:
    ///   - node: of the engine; what the device captures unless said otherwise. It is converted to the format.
    /// - Precondition: there is a file; `preRoll` is not below 0, `partDuration` and `firstPart` are above.
    /// - Throws: ``AudioRecorderError/file(_:)``, ``AudioRecorderError/queue(_:)``.
    public init(
        files: [AudioRecorderFile], format: AudioFormat, on engine: AudioEngine, from node: AudioNode? = nil,
        options: Options = Options()
    ) throws(AudioRecorderError) {
        precondition(
            !files.isEmpty && options.preRoll >= 0 && (options.partDuration ?? 1) > 0 && options.firstPart > 0)
        self.format = format
        let part = options.partDuration.map { max(1, Int(boundedFrames($0 * format.sampleRate))) }
        var opened: [RecordedFile] = []
        do throws(AudioFileError) {
            for file in files {
                try file.check(file.path(ofPart: part == nil ? nil : options.firstPart), format)
            }
            for file in files {
                opened.append(
                    try RecordedFile(file, format: format, partFrames: part, firstPart: options.firstPart))
            }
        } catch {
            for file in opened { file.discard() }
            throw .file(error)
        }
        seen = LockedValue(Seen(files: opened.map(\.progress)))
        state = LockedValue(RecorderState(files: opened, format: format, options: options))
        let served = WeakRecorder()
        do throws(AudioQueueError) {
            queue = try AudioInputQueue(.linearPCM(format), on: engine, from: node, name: "recorder") { queue, buffer in
                served.recorder?.receiveBuffer(buffer)
                try? queue.enqueue(buffer)
            }
            for _ in 0..<Self.bufferCount { try queue.enqueue(try queue.allocateBuffer(duration: Self.bufferDuration)) }
        } catch { throw .queue(error) }
        served.recorder = self
        queue.setEventHandler { event in
            switch event {
            case .lost(let loss): served.recorder?.update { $0.noteLoss(loss) }
            case .stopped: served.recorder?.finish()
            default: break
            }
        }
    }

    /// A recorder of one file, of the kind that its ending asks for.
    public convenience init(
        path: String, format: AudioFormat, on engine: AudioEngine, from node: AudioNode? = nil,
        options: Options = Options()
    ) throws(AudioRecorderError) {
        try self.init(
            files: [AudioRecorderFile(path: path)], format: format, on: engine, from: node, options: options)
    }

    deinit { state.withLock { $0.close() } }

    /// Begins to capture, for the pre-roll and the meter; nothing is written yet.
    public func prepareToRecord() throws(AudioRecorderError) {
        guard !seen.withLock({ $0.isClosed }) else { throw .stopped }
        do throws(AudioQueueError) { try queue.start() } catch { throw .queue(error) }
    }

    /// Records, or goes on after ``pause()`` right behind what was recorded.
    /// - Parameters:
    ///   - time: of the first frame, but for the pre-roll.
    ///   - duration: seconds after which it pauses by itself; nil, or infinity, for none.
    /// - Throws: ``AudioRecorderError/stopped``, ``AudioRecorderError/queue(_:)``.
    public func record(at time: AudioQueueTime = .now, forDuration duration: Double? = nil) throws(AudioRecorderError) {
        try prepareToRecord()
        let start = time == .now ? nil : time.frame(of: queue.engine)
        turn(isOn: true, at: start, frames: duration.map { boundedFrames($0 * format.sampleRate) })
    }

    /// Writes nothing from the next block on, until ``record(at:forDuration:)``.
    public func pause() { turn(isOn: false) }

    private func turn(isOn: Bool, at time: Int64? = nil, frames: Int64? = nil) {
        let next = queue.nextFrame
        let new = RecorderState.Switch(
            start: next.start, time: time ?? next.time, isOfEngine: time != nil, isOn: isOn, frames: frames)
        seen.withLock {
            $0.switches.append(new)
            $0.isOn = isOn
        }
    }

    /// Ends the recording and finishes the files. In manual rendering on the thread that renders. Again does nothing but throw the
    /// same.
    /// - Throws: ``AudioRecorderError/file(_:)``: why the first file that did ended early; those without an error are whole.
    public func stop() throws(AudioRecorderError) {
        queue.stop()
        queue.settle()
        var (count, attemptsLeft) = (frameCount, 200)
        while attemptsLeft > 0, !seen.withLock({ $0.isClosed }), queue.engine.isRunning {
            usleep(5_000)
            attemptsLeft -= 1
            // A slow disk has all the time it needs.
            if frameCount != count { (count, attemptsLeft) = (frameCount, 200) }
        }
        finish()
        if let error { throw .file(error) }
    }

    private func finish() {
        state.withLock { state in
            state.close()
            note(&state)
        }
    }

    private func receiveBuffer(_ buffer: AudioQueueBuffer) {
        update {
            $0.receiveSamples(
                buffer.samples, frameCount: buffer.frameCount, time: buffer.sampleTime, start: buffer.start)
        }
    }

    private func update(_ body: (inout RecorderState) -> Void) {
        state.withLock { state in
            guard !state.isClosed else { return }
            let switches = seen.withLock { seen in
                defer { seen.switches = [] }
                return seen.switches
            }
            for var next in switches {
                // Now that something has come the engine's rate is known.
                if next.isOfEngine { next.time = queue.renderer.controls.handle.frame(next.time) }
                state.turn(next)
            }
            body(&state)
            note(&state)
        }
    }

    private func note(_ state: inout RecorderState) {
        let (frames, lost, trimmed, peak) = (state.frameCount, state.lost, state.trimmed, state.peak)
        let (elapsed, isOn, isClosed, files) = (state.elapsed, state.isOn, state.isClosed, state.files.map(\.progress))
        seen.withLock { seen in
            (seen.frameCount, seen.lost, seen.trimmed, seen.peak) = (frames, lost, trimmed, peak)
            seen.elapsed = elapsed
            if seen.switches.isEmpty { seen.isOn = isOn }
            (seen.isClosed, seen.files) = (isClosed, files)
        }
    }

    /// Returns true if it records, or will at the time it was given.
    public var isRecording: Bool { seen.withLock { $0.isOn && !$0.isClosed } }
    /// Frames recorded, the pre-roll and silence for lost ones included.
    public var frameCount: Int { seen.withLock { $0.frameCount } }
    /// Frames that went by while it recorded: without the pre-roll, with silence that was left out.
    package var elapsedFrameCount: Int { seen.withLock { $0.elapsed } }
    /// Seconds recorded.
    public var currentTime: Double { Double(frameCount) / format.sampleRate }
    /// Frames that were lost, and are silence.
    public var lostFrameCount: Int { seen.withLock { $0.lost } }
    /// Silent frames that were left out.
    package var trimmedFrameCount: Int { seen.withLock { $0.trimmed } }
    /// The greatest magnitude of all that was recorded.
    package var recordedPeak: Float { seen.withLock { $0.peak } }
    /// The files, in the order in which they were given.
    public var files: [FileProgress] { seen.withLock { $0.files } }
    /// The files so far, those of each in its order.
    public var paths: [String] { files.flatMap(\.paths) }
    /// The error that ended a file's recording early, such as a full disk; the first.
    public var error: AudioFileError? { files.lazy.compactMap(\.error).first }
    /// Peak and mean square of the last block that came.
    public var level: Level { queue.level }
    /// The greatest magnitude of the last block, in dBFS (`peakPower`).
    public var peakPower: Float { gainToDecibels(level.peak) }
    /// The root of the mean square of the last block, in dBFS (`averagePower`).
    public var averagePower: Float { gainToDecibels(level.meanSquare.squareRoot()) }
}

/// Breaks the ring between a recorder and its queue.
final class WeakRecorder: @unchecked Sendable {  // set once, before anyone looks
    weak var recorder: AudioRecorder?
}
