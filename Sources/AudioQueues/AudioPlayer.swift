// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioContainers
import EarshotAudioEngine
import EarshotAudioFiles
import EarshotAudioStreams

/// Plays files and streams one after the other, without a gap (`AVAudioPlayer`, `AVQueuePlayer`).
///
/// ```swift
/// let player = try AudioPlayer(path: "song.flac", on: engine)
/// player.rate = 1.25
/// try player.play()
/// ```
/// Files are read, converted and stretched on the queue's own thread, 0.2 to 0.3 s ahead. At a ``rate`` of 1 the samples are not
/// changed. Call from any thread except a render thread.
///
/// A stream connects at its turn, or 5 s earlier if the end of the item before it is known. While it has no data, silence is
/// heard that does not count as a loss, and ``AudioPlayerEvent/stream(item:_:)`` reports it. A live stream always plays at a rate
/// of 1. After a pause longer than its buffer it is heard live again.
public final class AudioPlayer: Sendable {
    /// The format of playback; files are converted to it.
    public let format: AudioFormat
    /// The queue that plays the player's sound; it has the volume, the pan, the meter and the statistics.
    public let queue: AudioOutputQueue

    let state: LockedValue<PlayerControl>
    let broadcast = Broadcast<AudioPlayerEvent>()

    /// Creates a player with an empty playlist.
    /// - Throws: ``AudioPlayerError/queue(_:)``.
    public init(format: AudioFormat, on engine: AudioEngine, name: String = "player") throws(AudioPlayerError) {
        self.format = format
        let served = WeakPlayer()
        state = LockedValue(PlayerControl(format: format))
        do throws(AudioQueueError) {
            queue = try AudioOutputQueue(.linearPCM(format), on: engine, name: name) { _, buffer in
                served.player?.refill(buffer)
            }
            let frames = Int(format.sampleRate * PlayerControl.bufferDuration)
            var buffers: [AudioQueueBuffer] = []
            for _ in 0..<3 * PlayerControl.queuedCount { buffers.append(try queue.allocateBuffer(frameCount: frames)) }
            let free = buffers
            state.withLock { $0.free = free }
        } catch { throw .queue(error) }
        served.player = self
        queue.setEventHandler { served.player?.handleEvent($0) }
    }

    /// Creates a player of one file, in the file's sample rate and channel count.
    public convenience init(
        path: String, on engine: AudioEngine, loops: Int = 0
    ) throws(AudioPlayerError) {
        let reader: any SoundFileReader
        do throws(AudioFileError) { reader = try SoundFiles.open(path) } catch { throw .file(error) }
        try self.init(format: reader.processingFormat, on: engine)
        append(FileSource(reader, as: format, isNamed: true), loops)
    }

    deinit {
        queue.stop()
        state.withLock { $0.timeline.releaseResources() }
    }

    // MARK: Playlist

    /// Appends a file to the playlist.
    /// - Parameter loops: the number of repetitions (`numberOfLoops`); negative for endless.
    public func append(path: String, loops: Int = 0) throws(AudioPlayerError) {
        do throws(AudioFileError) {
            append(FileSource(try SoundFiles.open(path), as: format, isNamed: true), loops)
        } catch { throw .file(error) }
    }

    /// Appends the sound of an address: a file, a station, or an M3U or PLS playlist that names one.
    /// - Parameters:
    ///   - url: `http://…` or `https://…`.
    ///   - loops: the repetitions of a file, as for ``append(path:loops:)``.
    /// - Throws: ``AudioPlayerError/stream(_:)`` if `url` is not a valid address; network errors arrive as
    ///   ``AudioPlayerEvent/failed(item:_:)``.
    public func append(
        url: String, loops: Int = 0, options: AudioStreamOptions = AudioStreamOptions()
    ) throws(AudioPlayerError) {
        do throws(AudioStreamError) {
            append(try StreamSource(url, as: format, options: options), loops)
        } catch { throw .stream(error) }
    }

    /// Appends a stream that was not started, such as one of a pipe. The player owns it and plays it once.
    /// - Precondition: the stream has the player's format.
    public func append(_ stream: AudioStream) {
        precondition(stream.format == format)
        append(StreamSource(stream), 0)
    }

    /// Appends the sound of any reader, which the player then owns. During playback the sound follows the last item without a
    /// gap.
    public func append(_ reader: sending any SoundFileReader, loops: Int = 0) {
        append(FileSource(reader, as: format, isNamed: false), loops)
    }

    private func append(_ source: any PlayerSource, _ loops: Int) {
        let box = UncheckedItem(item: PlayerTimeline.Item(source: source, loops: loops))
        let queue = queue
        let runs = state.withLock { state -> Bool? in
            let isNext = state.timeline.isAtEnd
            state.timeline.append(box.item)
            guard isNext else {
                // The file is opened again at its turn: a playlist may have more files than a process may open.
                box.item.source.releaseResources()
                return nil
            }
            let runs = queue.proceed()
            return state.isPlaying ? runs : nil
        }
        guard let runs else { return }
        if runs { fillFree() } else { try? play() }
    }

    private struct UncheckedItem: @unchecked Sendable { let item: PlayerTimeline.Item }

    /// The number of items in the playlist.
    public var itemCount: Int { state.withLock { $0.timeline.items.count } }
    /// The paths and addresses in the playlist, without user names and passwords.
    public var names: [String] { state.withLock { $0.timeline.items.map(\.source.name) } }

    // MARK: Playing

    /// Reads the first frames, so that ``play(at:)`` starts at once (`prepareToPlay`).
    public func prepareToPlay() { fillFree() }

    /// Starts playback, or resumes after ``pause()``; after the end it starts from the beginning.
    /// - Throws: ``AudioPlayerError``.
    public func play(at time: AudioQueueTime = .now) throws(AudioPlayerError) {
        if state.withLock({ !$0.isPlaying && $0.hasEnded }) { try seek(to: 0, item: 0) }
        let queue = queue
        let place = queue.renderer.controls.place
        state.withLock { state in
            if !state.isPlaying, state.timeline.isOutdated {
                _ = state.position(at: place)
                state.timeline.forgetAhead()
                state.forget()
                queue.reset()
            }
            state.isPlaying = true
            state.hasEnded = false
        }
        fillFree()
        do throws(AudioQueueError) {
            try queue.start(at: time)
        } catch {
            guard error == .stopping else { throw .queue(error) }
        }
        endIfDone()
    }

    /// Fades out within 10 ms and keeps the position.
    public func pause() {
        state.withLock { $0.isPlaying = false }
        queue.pause()
    }

    /// Fades out within 10 ms and closes connections; the next ``play(at:)`` begins with the first item.
    public func stop() {
        state.withLock { state in
            state.isPlaying = false
            state.hasEnded = true
            state.timeline.releaseResources()
        }
        queue.stop()
    }

    /// Seeks to a frame, exactly. The old sound fades out and the new one fades in, each over 10 ms.
    ///
    /// A file over HTTP is requested from that position, with silence until it arrives; ``AudioStream/seek(to:)`` says how exact
    /// that is, and ``framePosition`` is the result. A stream that has not answered yet may turn out not seekable; then
    /// ``AudioPlayerEvent/seekRefused(item:_:)`` is sent.
    /// - Parameters:
    ///   - frame: a frame of the item at the player's rate, clamped to the item.
    ///   - item: nil for the current item.
    /// - Throws: ``AudioPlayerError/noItem(_:count:)``, ``AudioPlayerError/file(_:)``, ``AudioPlayerError/stream(_:)`` with
    ///   `AudioStreamError.notSeekable`; playback is then unchanged.
    public func seek(to frame: Int, item: Int? = nil) throws(AudioPlayerError) {
        let frame = min(max(0, frame), 1 << 40)
        let place = queue.renderer.controls.place
        let failure = state.withLock { state -> AudioPlayerError? in
            let heard = state.position(at: place)
            let item = item ?? min(heard.item, max(0, state.timeline.items.count - 1))
            guard state.timeline.items.indices.contains(item) else {
                return .noItem(item, count: state.timeline.items.count)
            }
            do throws(AudioPlayerError) {
                try state.timeline.seek(to: PlayerTimeline.Place(item: item, frame: frame))
            } catch { return error }
            state.forget()
            let runs = queue.proceed()
            if state.isPlaying, !runs { try? queue.start() }
            queue.reset()
            return nil
        }
        if let failure { throw failure }
        guard isPlaying else { return }
        fillFree()
    }

    /// Seeks to the beginning of an item (`advanceToNextItem`).
    public func skip(toItem item: Int) throws(AudioPlayerError) { try seek(to: 0, item: item) }

    // MARK: Filling

    /// Takes back a buffer that the queue returned, sends the events of the buffer's end, and fills free buffers during playback.
    private func refill(_ buffer: AudioQueueBuffer) {
        let ended = state.withLock { state in
            state.free.append(buffer)
            return state.heard(buffer)
        }
        for item in ended { broadcast.send(.itemEnded(item)) }
        let place = queue.renderer.controls.place
        for event in state.withLock({ $0.streamEvents(at: place) }) { broadcast.send(event) }
        if isPlaying { fillFree() }
    }

    /// Fills and enqueues free buffers until enough are enqueued, and sends the resulting events.
    private func fillFree() {
        let queue = queue
        let (failures, ended) = state.withLock { state in state.fillFree(queue) }
        for (item, error) in failures { broadcast.send(.failed(item: item, error)) }
        for item in ended { broadcast.send(.itemEnded(item)) }
        endIfDone()
    }

    /// Lets the queue stop after its last buffer, once all items are read.
    private func endIfDone() {
        let queue = queue
        state.withLock { if $0.isPlaying, $0.isRead, $0.timeline.isAtEnd { queue.stopBehindLast() } }
    }

    private func handleEvent(_ event: AudioQueueEvent) {
        switch event {
        case .started: broadcast.send(.started)
        case .paused: broadcast.send(.paused)
        case .lost(let loss): broadcast.send(.lost(loss))
        case .stopped:
            let isFinished = state.withLock { state in
                defer {
                    state.isPlaying = false
                    state.hasEnded = true
                }
                return state.isPlaying
            }
            broadcast.send(isFinished ? .finished : .stopped)
        case .changed(let property): broadcast.send(.changed(property))
        case .failed: break  // sent only by queues that record
        }
    }
}

/// Breaks the retain cycle between a player and its queue.
final class WeakPlayer: @unchecked Sendable {  // set once, before any use
    weak var player: AudioPlayer?
}
