// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP
import EarshotAudioEngine
import EarshotAudioFiles
import Glibc

/// An error of an ``AudioRecorder``.
public enum AudioRecorderError: Error, Sendable, CustomStringConvertible {
    /// A file cannot be created, or its recording ended early.
    case file(AudioFileError)
    /// The queue could not be created or started.
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

/// Records a node's output into files, of several formats at once (`AVAudioRecorder`).
///
/// ```swift
/// let recorder = try AudioRecorder(path: "take.mp3", format: format, on: engine)
/// try engine.start(on: device)
/// try recorder.record()
/// …
/// try recorder.stop()
/// ```
/// Encoding and writing happen on the queue's own thread, in manual rendering on the caller's. Lost frames are silence in the
/// files, so that the files keep time. A file that fails, as on a full disk, ends alone; the other files continue. Call from any
/// thread except a render thread.
public final class AudioRecorder: Sendable {
    /// The rules for leaving out silence.
    public struct SilenceTrimming: Hashable, Sendable {
        /// A frame is silent if no channel has a sample above this level in dBFS.
        public var threshold: Float
        /// The seconds of silence kept after each sound and before the next sound, clamped to 600.
        public var kept: Double
        /// Creates rules.
        public init(threshold: Float = -60, kept: Double = 0.25) {
            self.threshold = threshold
            self.kept = kept
        }
        var gain: Float { decibelsToGain(threshold) }
    }

    /// The options of a recording.
    public struct Options: Hashable, Sendable {
        /// The seconds recorded before the first ``AudioRecorder/record(at:forDuration:)``, as far as
        /// ``AudioRecorder/prepareToRecord()`` was called before. Kept in memory, therefore clamped to 600.
        public var preRoll = 0.0
        /// The seconds after which a new file begins, without a gap; nil for one file. ``AudioRecorderFile/path(ofPart:)``
        /// numbers the files.
        public var partDuration: Double?
        /// The first file's number if the recording is divided by `partDuration`.
        public var firstPart = 1
        /// The rules for leaving out silence; nil to record it.
        public var silence: SilenceTrimming?
        /// Creates options without pre-roll, division or trimming.
        public init() {}
    }

    /// The progress of a recorded file.
    public struct FileProgress: Equatable, Sendable {
        /// The paths of the file's parts so far; one path if the recording is not divided.
        public var paths: [String]
        /// The number of frames written to the file, at the recorder's rate.
        public var frameCount: Int
        /// The error that ended the file early, such as a full disk.
        public var error: AudioFileError?
    }

    /// The format of the files.
    public let format: AudioFormat
    /// The queue that captures the sound, with the meter.
    public let queue: AudioInputQueue

    private let state: LockedValue<RecorderState>
    /// The state that can be read while a disk is busy.
    private let snapshot: LockedValue<Snapshot>
    private struct Snapshot {
        /// The switches of recording that the queue's thread has not handled yet.
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
    /// The seconds of one buffer. All buffers together last longer than the timeout of a blocked pipe, so that the other files
    /// lose no frames.
    private static let bufferDuration = 0.125
    private static let bufferCount = 48

    /// Creates or truncates the files; if one of them cannot be created, none is changed.
    /// - Parameters:
    ///   - node: a node of the engine; by default the engine's input. Its output is converted to the format.
    /// - Precondition: there is a file; `preRoll` is at least 0, `partDuration` and `firstPart` are above 0.
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
        snapshot = LockedValue(Snapshot(files: opened.map(\.progress)))
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

    /// Creates a recorder of one file, whose extension selects the format.
    public convenience init(
        path: String, format: AudioFormat, on engine: AudioEngine, from node: AudioNode? = nil,
        options: Options = Options()
    ) throws(AudioRecorderError) {
        try self.init(
            files: [AudioRecorderFile(path: path)], format: format, on: engine, from: node, options: options)
    }

    deinit { state.withLock { $0.close() } }

    /// Starts capturing, for the pre-roll and the meter, without writing.
    public func prepareToRecord() throws(AudioRecorderError) {
        guard !snapshot.withLock({ $0.isClosed }) else { throw .stopped }
        do throws(AudioQueueError) { try queue.start() } catch { throw .queue(error) }
    }

    /// Starts recording, or resumes after ``pause()`` without a gap in the file.
    /// - Parameters:
    ///   - time: the time of the first frame after the pre-roll.
    ///   - duration: the seconds after which the recording pauses; nil or infinity for no limit.
    /// - Throws: ``AudioRecorderError/stopped``, ``AudioRecorderError/queue(_:)``.
    public func record(at time: AudioQueueTime = .now, forDuration duration: Double? = nil) throws(AudioRecorderError) {
        try prepareToRecord()
        let start = time == .now ? nil : time.frame(of: queue.engine)
        turn(isOn: true, at: start, frames: duration.map { boundedFrames($0 * format.sampleRate) })
    }

    /// Stops writing from the next block on, until ``record(at:forDuration:)``.
    public func pause() { turn(isOn: false) }

    private func turn(isOn: Bool, at time: Int64? = nil, frames: Int64? = nil) {
        let next = queue.nextFrame
        let new = RecorderState.Switch(
            start: next.start, time: time ?? next.time, isOfEngine: time != nil, isOn: isOn, frames: frames)
        snapshot.withLock {
            $0.switches.append(new)
            $0.isOn = isOn
        }
    }

    /// Ends the recording and finishes the files. In manual rendering call it on the rendering thread. A second call only throws
    /// the same error.
    /// - Throws: ``AudioRecorderError/file(_:)``, the error of the first file that ended early; files without an error are
    ///   complete.
    public func stop() throws(AudioRecorderError) {
        queue.stop()
        queue.settle()
        var (count, attemptsLeft) = (frameCount, 200)
        while attemptsLeft > 0, !snapshot.withLock({ $0.isClosed }), queue.engine.isRunning {
            usleep(5_000)
            attemptsLeft -= 1
            // The wait starts anew while frames are still written, for slow disks.
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
            let switches = snapshot.withLock { snapshot in
                defer { snapshot.switches = [] }
                return snapshot.switches
            }
            for var next in switches {
                // A time on the engine's frame counter is converted now, because the engine's rate is known from its first block
                // on.
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
        snapshot.withLock { snapshot in
            (snapshot.frameCount, snapshot.lost, snapshot.trimmed, snapshot.peak) = (frames, lost, trimmed, peak)
            snapshot.elapsed = elapsed
            if snapshot.switches.isEmpty { snapshot.isOn = isOn }
            (snapshot.isClosed, snapshot.files) = (isClosed, files)
        }
    }

    /// True if the recorder is recording, or will be at a given time.
    public var isRecording: Bool { snapshot.withLock { $0.isOn && !$0.isClosed } }
    /// The number of frames recorded, with the pre-roll and the silence for lost frames, without the silence left out.
    public var frameCount: Int { snapshot.withLock { $0.frameCount } }
    /// The number of frames that passed while recording, also those that were left out as silence, without the pre-roll.
    package var elapsedFrameCount: Int { snapshot.withLock { $0.elapsed } }
    /// The recorded seconds, counted as in ``frameCount``.
    public var currentTime: Double { Double(frameCount) / format.sampleRate }
    /// The number of lost frames, which are silence in the files.
    public var lostFrameCount: Int { snapshot.withLock { $0.lost } }
    /// The number of silent frames left out of the files.
    package var trimmedFrameCount: Int { snapshot.withLock { $0.trimmed } }
    /// The greatest magnitude of all recorded samples.
    package var recordedPeak: Float { snapshot.withLock { $0.peak } }
    /// The progress of the files, in the order in which they were given.
    public var files: [FileProgress] { snapshot.withLock { $0.files } }
    /// The paths of all files and parts so far.
    public var paths: [String] { files.flatMap(\.paths) }
    /// The first error that ended a file early, such as a full disk; nil if there was none.
    public var error: AudioFileError? { files.lazy.compactMap(\.error).first }
    /// The peak and mean square of the last captured block.
    public var level: Level { queue.level }
    /// The peak of the last captured block in dBFS (`peakPower`).
    public var peakPower: Float { gainToDecibels(level.peak) }
    /// The RMS of the last captured block in dBFS (`averagePower`).
    public var averagePower: Float { gainToDecibels(level.meanSquare.squareRoot()) }
}

/// Breaks the retain cycle between a recorder and its queue.
final class WeakRecorder: @unchecked Sendable {  // set once, before any use
    weak var recorder: AudioRecorder?
}
