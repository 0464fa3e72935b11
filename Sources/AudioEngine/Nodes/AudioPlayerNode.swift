// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioFiles

/// Plays files and buffers, one after the other without a gap, or each at an exact frame.
///
/// ```swift
/// let player = AudioPlayerNode(format: AudioFormat(sampleRate: 48_000, channelCount: 2))
/// try player.scheduleFile(AudioFileReader(path: "song.wav"))
/// player.play()
/// ```
/// Files are read up to a second ahead, on the engine's own thread and in calls that schedule or play.
public final class AudioPlayerNode: AudioNode, @unchecked Sendable {
    /// The output format; files are converted to it when they are read.
    public let format: AudioFormat
    private let ring: AudioRing
    private let marks = PlayerMarks()
    private let controls = RunControls()
    private let queue: LockedValue<PlayerQueue>

    /// Creates a player with this output format. Files of this format are not converted when they are read; the connection after
    /// the player converts the output once.
    public init(format: AudioFormat, name: String = "player") {
        self.format = format
        ring = AudioRing(channelCount: format.channelCount, capacity: Int(format.sampleRate))
        queue = LockedValue(PlayerQueue(buffer: AudioBuffer(channelCount: format.channelCount, frameCapacity: 4_096)))
        super.init(name: name)
    }

    public override var numberOfInputs: Int? { 0 }

    /// The options of a scheduled item.
    public struct Options: OptionSet, Sendable {
        /// The options as bits.
        public let rawValue: Int
        /// Creates options from bits.
        public init(rawValue: Int) { self.rawValue = rawValue }
        /// Repeats the item without a gap, until ``AudioPlayerNode/stop()`` or an item that interrupts.
        public static let loops = Options(rawValue: 1)
        /// Replaces all scheduled items, which fade out within 10 ms.
        public static let interrupts = Options(rawValue: 2)
    }

    /// Schedules a segment of a file.
    ///
    /// AudioContainers' `SoundFiles.open` opens files of every format, ``AudioFileReader`` those that libsndfile reads.
    /// - Parameters:
    ///   - file: owned by the player from now on.
    ///   - startingFrame: the first frame to play, counted in the file at the player's rate.
    ///   - frameCount: the frames to play, counted at the player's rate; nil for the rest of the file.
    ///   - sampleTime: the time of the first frame on the engine's frame counter, clamped to 2⁵⁰; nil for directly after the
    ///     previous item. Frames that are late are skipped, so that the remaining frames are in time.
    ///   - completion: called after the last frame was played, or the item was stopped. Always called on the engine's own thread,
    ///     in manual rendering from ``AudioEngine/renderOffline(_:frameCount:input:)``, never inside a method of the player. It
    ///     may schedule the next item. While no engine renders, the call waits.
    /// - Throws: the error of the file.
    public func scheduleFile(
        _ file: sending any SoundFileReader, startingFrame: Int = 0, frameCount: Int? = nil,
        at sampleTime: Int64? = nil, options: Options = [], completion: (@Sendable () -> Void)? = nil
    ) throws(AudioFileError) {
        let source = try PlayerFile(file, format: format, start: startingFrame, count: frameCount)
        schedule(.file(source), sampleTime, options, completion)
    }

    /// Schedules samples in memory, as ``scheduleFile(_:startingFrame:frameCount:at:options:completion:)`` does.
    /// - Parameter buffer: must have the player's channel count, and must not change until it was played.
    public func scheduleBuffer(
        _ buffer: AudioBuffer, frameCount: Int, at sampleTime: Int64? = nil, options: Options = [],
        completion: (@Sendable () -> Void)? = nil
    ) {
        precondition(buffer.channels.count == format.channelCount && (1...buffer.frameCapacity).contains(frameCount))
        schedule(.buffer(buffer, frameCount), sampleTime, options, completion)
    }

    private func schedule(
        _ source: PlayerQueue.Source, _ time: Int64?, _ options: Options, _ completion: (@Sendable () -> Void)?
    ) {
        if options.contains(.interrupts) { clear() }
        queue.withLock {
            $0.waiting.append(
                PlayerQueue.Item(
                    source: source, start: boundedSampleTime(time ?? .min), loops: options.contains(.loops),
                    completion: completion))
            controls.end(at: .max)
        }
        service()
    }

    /// Starts or resumes playing the scheduled items.
    /// - Parameter sampleTime: the start on the engine's frame counter, clamped to 2⁵⁰; nil for now.
    public func play(at sampleTime: Int64? = nil) {
        service()
        controls.begin(run: 1, at: boundedSampleTime(sampleTime ?? .min))
    }

    /// Fades out within 10 ms and keeps the position.
    public func pause() { controls.halt() }

    /// Fades out within 10 ms and discards the scheduled items.
    public func stop() {
        controls.halt()
        clear()
    }

    private func clear() {
        queue.withLock { queue in
            queue.finished += queue.waiting.compactMap(\.completion) + queue.fed.compactMap(\.completion)
            queue.waiting = []
            queue.fed = []
            controls.end(at: ring.reader.offeredFrames)
            controls.flush(to: ring.reader.offeredFrames)
        }
    }

    /// The number of frames played or skipped so far, at the player's rate.
    public var framePosition: Int { controls.next }
    /// The number of frames skipped because they were scheduled or read too late, at the player's rate.
    public var lostFrameCount: Int { controls[.late] }
    /// The number of samples of files and buffers that were NaN or infinite, and are output as silence.
    public var faultCount: Int { queue.withLock { $0.faultCount } }
    /// The last error that ended a file early; nil if there was none.
    public var error: AudioFileError? { queue.withLock { $0.error } }
    /// True if no scheduled item is left to play.
    public var isFinished: Bool {
        queue.withLock { $0.waiting.isEmpty && ring.writer.heldFrames == 0 }
    }

    override var needsService: Bool { true }

    /// Fills the ring and finds items that have ended. For any thread.
    override func service() {
        queue.withLock { queue in
            queue.feed(ring.writer, room: ring.capacity, marks: marks.queue.writer)
            controls.end(at: queue.waiting.isEmpty ? ring.reader.offeredFrames : .max)
            let position = controls.next
            while let first = queue.fed.first, first.end <= position {
                if let completion = first.completion { queue.finished.append(completion) }
                queue.fed.removeFirst()
            }
        }
    }

    override func callBack() {
        let finished = queue.withLock { queue in
            defer { queue.finished = [] }
            return queue.finished
        }
        for completion in finished { completion() }
    }

    override func negotiate(
        _ inputs: [Int: AudioFormat], engine: EngineFormat
    ) throws(AudioEngineError) -> NodeFormats {
        guard format.sampleRate == format.sampleRate.rounded() else {
            throw .impossibleFormat(node: name, format: format, reason: "a rate is a whole number of hertz")
        }
        return NodeFormats(inputs: [:], output: format)
    }

    override func makeState(_ formats: NodeFormats, engineRate: Double) throws(AudioEngineError) -> RenderState {
        controls.setRatio(format.sampleRate / engineRate)
        let state = PlayerState(ring, marks: marks, controls: controls, sampleRate: format.sampleRate)
        return RenderMemory(state, keeping: [ring, marks, controls], function: PlayerState.function)
    }
}

/// The scheduled items and their transfer to the ring. Under the player's lock.
struct PlayerQueue: ~Copyable, @unchecked Sendable {  // moves with its lock
    enum Source {
        case file(PlayerFile)
        case buffer(AudioBuffer, Int)
    }
    struct Item {
        var source: Source
        var start: Int64
        var loops: Bool
        var completion: (@Sendable () -> Void)?
        var isMarked = false
        var done = 0
    }

    var waiting: [Item] = []
    /// The items that are completely in the ring: the position after each item's last frame, and the completion handler.
    var fed: [(end: Int, completion: (@Sendable () -> Void)?)] = []
    var finished: [@Sendable () -> Void] = []
    var error: AudioFileError?
    private(set) var faultCount = 0
    private let buffer: AudioBuffer
    private var position = 0

    init(buffer: AudioBuffer) { self.buffer = buffer }

    mutating func feed(_ ring: AudioRing.Writer, room capacity: Int, marks: MessageQueue<PlayerMark>.Writer) {
        while !waiting.isEmpty {
            if !waiting[0].isMarked {
                guard marks.push(PlayerMark(position: position, start: waiting[0].start)) else { return }
                waiting[0].isMarked = true
            }
            let room = min(capacity - ring.heldFrames, buffer.frameCapacity)
            guard room > 0 else { return }
            let count = read(room)
            if count > 0 { ring.write(buffer.channels, frameCount: count) }
            position += count
            if count < room, !restart() {
                fed.append((position, waiting[0].completion))
                waiting.removeFirst()
            }
        }
    }

    private mutating func read(_ room: Int) -> Int {
        switch waiting[0].source {
        case .buffer(let source, let frames):
            let count = min(room, frames - waiting[0].done)
            for c in 0..<source.channels.count {
                copySamples(buffer.channels[c], source.channels[c] + waiting[0].done, count)
            }
            waiting[0].done += count
            silenceFaults(count)
            return count
        case .file(let file):
            let faults = file.faultCount
            defer { faultCount += file.faultCount - faults }
            do throws(AudioFileError) {
                return try file.read(buffer.channels, room)
            } catch {
                self.error = error
                waiting[0].loops = false
                return 0
            }
        }
    }

    /// Replaces NaN and infinity by silence, and counts them.
    private mutating func silenceFaults(_ count: Int) {
        guard !areSamplesFinite(buffer.channels, count) else { return }
        for c in 0..<buffer.channels.count {
            let samples = buffer.channels[c]
            for i in 0..<count where !samples[i].isFinite {
                samples[i] = 0
                faultCount += 1
            }
        }
    }

    /// Restarts the first waiting item if it loops. Returns false if it does not loop, is empty or fails.
    private mutating func restart() -> Bool {
        guard waiting[0].loops else { return false }
        switch waiting[0].source {
        case .buffer: waiting[0].done = 0
        case .file(let file):
            do throws(AudioFileError) {
                guard try file.restart() else { return false }
            } catch {
                self.error = error
                return false
            }
        }
        return true
    }
}

/// A segment of a file, read in the player's format.
final class PlayerFile {
    private let start: Int
    private let count: Int
    private let reader: ConvertedFileReader
    private var readFrameCount = 0
    /// The number of samples read that were NaN or infinite, and are silence.
    var faultCount: Int { reader.faultCount }

    init(_ reader: any SoundFileReader, format: AudioFormat, start: Int, count: Int?) throws(AudioFileError) {
        precondition(start >= 0 && (count ?? 1) >= 0)
        self.start = start
        self.count = count ?? .max
        self.reader = ConvertedFileReader(reader, as: format)
        if start > 0 { try self.reader.seek(to: start) }
    }

    func read(_ channels: Channels, _ frameCount: Int) throws(AudioFileError) -> Int {
        let wantedCount = min(frameCount, count - readFrameCount)
        let readCount = wantedCount > 0 ? try reader.read(into: channels, frameCount: wantedCount) : 0
        readFrameCount += readCount
        return readCount
    }

    /// Seeks to the segment's first frame. Returns false if the segment gave no frames since its last start.
    func restart() throws(AudioFileError) -> Bool {
        guard readFrameCount > 0 else { return false }
        try reader.seek(to: start)
        readFrameCount = 0
        return true
    }
}
