// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Foundation
import Synchronization

/// Plays a stream of sound from the network or from a pipe: MP3, AAC, Ogg Opus, Ogg Vorbis or WAVE over http or https, from
/// Icecast, SHOUTcast or any other server, also by an M3U or PLS playlist.
///
/// A separate thread receives and decodes the stream and fills a ring. The render thread reads the ring with ``render``, the
/// block of a source node, so that effects can follow. While the network is slow or disconnected, silence plays, ``states``
/// reports it, and the stream connects again.
///
/// ```swift
/// let stream = try AudioStream("http://localhost:8000/live", format: AudioFormat(sampleRate: 48_000, channelCount: 2))
/// let node = AudioSourceNode(format: stream.format, block: stream.render)
/// try stream.start()
/// ```
/// Safe on any thread except the render thread.
public final class AudioStream: Sendable {
    /// The address that the stream was created with, without user name, password, query and fragment; for a pipe, the pipe's
    /// name.
    public let address: String
    /// The format of the frames that ``render`` writes.
    public let format: AudioFormat
    /// Fills a block on the render thread. The arguments are the engine's frame counter, the number of frames and the output. All
    /// frames are filled, with silence where there is no sound, as after ``stop()``.
    public let render: @Sendable (_ sampleTime: Int64, _ frameCount: Int, _ output: Channels) -> Int

    private let playout: StreamPlayout
    private let worker: StreamWorker
    private let thread: ServiceThread
    private let stopping = Mutex(())

    /// Creates a stream; ``start()`` connects it.
    /// - Parameters:
    ///   - address: `http://…` or `https://…`, of a stream or a playlist. May contain a user name and password, which are never
    ///     shown.
    ///   - format: the engine's format.
    /// - Throws: ``AudioStreamError/badAddress(_:)``.
    public convenience init(
        _ address: String, format: AudioFormat, options: AudioStreamOptions = AudioStreamOptions()
    ) throws(AudioStreamError) {
        self.init(try StreamAddress(address), pipe: nil, format: format, options: options)
    }

    /// Creates a stream of the sound that another program writes to a pipe; ``start()`` plays it until the pipe ends. A pipe
    /// cannot be played twice.
    /// - Parameters:
    ///   - descriptor: the reading end of the pipe. The stream's thread reads it and does not close it.
    ///   - prefix: bytes that the client has already read from the pipe.
    ///   - name: the pipe's name in errors.
    public convenience init(
        reading descriptor: Int32, after prefix: [UInt8] = [], name: String = "standard input", format: AudioFormat,
        options: AudioStreamOptions = AudioStreamOptions()
    ) {
        var options = options
        options.stallTimeout = .infinity
        self.init(
            StreamAddress(pipe: name), pipe: StreamPipe(descriptor, prefix: prefix), format: format, options: options)
    }

    /// Returns an address without user name, password, query and fragment, for display; “an invalid address” if it is not a URL.
    /// The address need not be playable.
    package static func shown(_ address: String) -> String { StreamAddress.shown(address) }

    private init(_ address: StreamAddress, pipe: StreamPipe?, format: AudioFormat, options: AudioStreamOptions) {
        let frames = max(StreamDecoder.leastCapacity(format), Int(options.buffer * format.sampleRate))
        let playout = StreamPlayout(
            ring: AudioRing(channelCount: format.channelCount, capacity: frames), sampleRate: format.sampleRate)
        let worker = StreamWorker(
            StreamCore(
                address, format: format, playout: playout, options: options, random: SystemRandomNumberGenerator()),
            pipe, options)
        self.address = address.description
        self.format = format
        self.playout = playout
        self.worker = worker
        let renderer = playout.renderer
        render = { [playout] _, frameCount, output in  // keeps `playout` alive, whose memory `renderer` uses
            withExtendedLifetime(playout) { renderer.render(output, frameCount: frameCount) }
        }
        thread = ServiceThread(name: "stream", interval: 1) { worker.work() }
    }

    deinit { stop() }

    /// Connects and plays. Call it once.
    /// - Throws: ``AudioStreamError/system(code:)``.
    public func start() throws(AudioStreamError) {
        let code = thread.start()
        guard code == 0 else { throw .system(code: code) }
    }

    /// Closes the connection, ends the thread and waits for its end. From then on silence plays.
    public func stop() {
        stopping.withLock { _ in
            thread.stop()
            worker.stop()
        }
    }

    /// Seeks in a file. Silence plays until the new position is available. The position is exact in WAVE, Ogg, MP3 with a
    /// constant bit rate and anything already played; otherwise it is as near as the file allows, and so is ``framePosition``.
    ///
    /// While it is not known whether the stream is seekable, the seek waits. If the stream turns out not to be seekable,
    /// ``refusedSeeks`` has the error.
    /// - Parameter frame: the target frame at the sample rate of ``format``; clamped to the beginning and the end.
    /// - Throws: ``AudioStreamError/notSeekable(address:reason:)``, and playback continues unchanged; or the error of a failed
    ///   stream.
    public func seek(to frame: Int) throws(AudioStreamError) {
        let playout = playout
        let refusal = worker.shown.withLock { shown -> AudioStreamError? in
            if let refusal = shown.refusal { return refusal }
            shown.goal = (StreamGoal.bounded(frame), playout.beginSeek())
            return nil
        }
        if let refusal { throw refusal }
    }

    /// Reads the next frames, for clients that play from their own buffers instead of calling ``render``. Call it on one thread,
    /// not a render thread. Sound fades out within 5 ms before a stall and fades in after a stall or a seek.
    /// - Parameter offset: the index in `channels` at which the first read frame is stored.
    /// - Returns: the frames read, 0 while no sound is available, as in a stall or a seek; nil after the last frame.
    public func read(into channels: Channels, frameCount: Int, offset: Int = 0) -> Int? {
        let isComplete = !playout.isSeeking && playout.isComplete
        let got = playout.renderer.readFrames(channels, frameCount: frameCount, offset: offset, fadesBeforeSeek: false)
        return got == 0 && isComplete && playout.ring.reader.heldFrames == 0 ? nil : got
    }

    /// The current state.
    public var state: AudioStreamState { worker.shown.withLock { $0.state } }
    /// The new states from now on, without the present one. The newest 64 are kept for a slow reader.
    public var states: AsyncStream<AudioStreamState> { worker.states.stream(keeping: 64) }
    /// The title of the sound at ``framePosition``; nil if there is none.
    public var title: AudioStreamTitle? { title(at: framePosition) }
    /// Returns the title at a frame, counted as in ``framePosition``. nil if there is none, or if it is older than the newest 64
    /// titles.
    public func title(at frame: Int) -> AudioStreamTitle? {
        worker.shown.withLock { $0.titles.last { $0.frame <= frame } }
    }
    /// The server's description of the stream; nil until the first sound was received.
    public var source: AudioStreamSource? { worker.shown.withLock { $0.source } }
    /// The titles from now on. They arrive before their sound is played; each has the frame at which it begins. The newest 64 are
    /// kept for a slow reader.
    public var titles: AsyncStream<AudioStreamTitle> { worker.titles.stream(keeping: 64) }
    /// Frames rendered or read so far, without the silence of stalls.
    public var framesPlayed: Int { playout.framesPlayed }
    /// The position in the sound, in frames, of the next frame to be rendered; during a seek, the seek's target. In a live stream
    /// the position is counted from the first received frame, including dropped frames.
    public var framePosition: Int {
        worker.shown.withLock { $0.goal?.frame ?? $0.pendingFrame } ?? playout.framePosition
    }
    /// The position in the sound, in frames, of the next frame to be read. A seek changes it only when the stream's thread
    /// carries the seek out; ``framePosition`` changes at once.
    package var readPosition: Int { playout.framePosition }
    /// The errors, from now on, of seeks that were accepted before it was known that the stream is not seekable. Playback
    /// continued unchanged.
    public var refusedSeeks: AsyncStream<AudioStreamError> { worker.refusals.stream() }
    /// Returns the last error of ``refusedSeeks``; nil if there was none since the last call.
    package func takeRefusal() -> AudioStreamError? {
        worker.shown.withLock { shown in
            defer { shown.refusedSeek = nil }
            return shown.refusedSeek
        }
    }
    /// True if the last frame of the stream is buffered or was rendered.
    package var hasAll: Bool { playout.isComplete }
    /// Seconds of buffered sound.
    public var bufferedSeconds: Double { Double(playout.ring.writer.heldFrames) / format.sampleRate }
    /// The counts so far.
    public var statistics: AudioStreamStatistics { worker.shown.withLock { $0.statistics } }
}

/// The work of the stream's thread. It passes the received data and the time to the core, and carries out the core's actions.
final class StreamWorker: @unchecked Sendable {  // only the thread uses the variables; after its end, `stop()`
    /// The values that the stream's thread sets and any thread reads.
    struct Shown {
        var state = AudioStreamState.stopped
        var statistics = AudioStreamStatistics()
        var titles: [AudioStreamTitle] = []
        var source: AudioStreamSource?
        /// The reason that the stream is not seekable; nil if it is, or if that is not known yet.
        var refusal: AudioStreamError?
        /// The target frame of a seek that the stream's thread has not taken yet, with the playout's number of the seek.
        var goal: (frame: Int, number: Int)?
        /// The target frame of a seek that the thread has taken and not carried out; nil if there is none.
        var pendingFrame: Int?
        var refusedSeek: AudioStreamError?
    }

    let shown: Mutex<Shown>
    let refusals = Broadcast<AudioStreamError>()
    let states = Broadcast<AudioStreamState>()
    let titles = Broadcast<AudioStreamTitle>()
    private var core: StreamCore
    private var transfer: (any StreamTransfer)?
    private let pipe: StreamPipe?
    private var hasStarted = false
    private let options: AudioStreamOptions
    private static let waitMilliseconds = 20  // waited for data in each round of work

    init(_ core: StreamCore, _ pipe: StreamPipe?, _ options: AudioStreamOptions) {
        self.core = core
        self.pipe = pipe
        self.options = options
        shown = Mutex(Shown(refusal: core.refusal))
    }

    /// Does one round of work. Always returns true: the thread repeats it.
    func work() -> Bool {
        if !hasStarted {
            hasStarted = true
            core.start(at: .now())
        }
        let goal = shown.withLock { shown in
            defer { shown.goal = nil }
            shown.pendingFrame = shown.goal?.frame ?? shown.pendingFrame
            return shown.goal
        }
        if let goal { core.seek(to: goal.frame, number: goal.number, at: .now()) }
        core.tick(at: .now())
        act()
        if let transfer {
            if core.wantsBytes { transfer.resume() }
            if let ending = transfer.work(milliseconds: Self.waitMilliseconds) {
                self.transfer = nil
                if !core.hasActions { core.end(ending, at: .now()) }
            }
        } else {
            usleep(UInt32(Self.waitMilliseconds) * 1_000)
        }
        core.tick(at: .now())
        act()
        notify()
        return true
    }

    /// Closes the connection and publishes the last state, after the thread has ended.
    func stop() {
        transfer = nil
        guard hasStarted, core.state != .stopped else { return }
        core.stop()
        notify()
    }

    private func act() {
        for action in core.takeActions() {
            transfer = nil
            guard case .connect(let address, let offset) = action else { continue }
            let head = { [unowned self] (head: HTTPHead) in core.receive(head, at: .now()) }
            let body = { [unowned self] (bytes: UnsafeRawBufferPointer) in core.receive(bytes, at: .now()) }
            if address.isPipe, let pipe {
                transfer = PipeTransfer(pipe, name: address.description, head: head, body: body)
                continue
            }
            do {
                transfer = try HTTPTransfer(address, offset: offset, options: options, head: head, body: body)
            } catch {
                core.end(.failed(error), at: .now())
            }
        }
    }

    private func notify() {
        let (newStates, newTitles, newRefusals) = (core.takeStates(), core.takeTitles(), core.takeRefusals())
        shown.withLock { shown in
            shown.state = core.state
            shown.statistics = core.statistics
            shown.source = core.source ?? shown.source
            shown.refusal = core.refusal
            shown.pendingFrame = core.goal?.frame
            shown.refusedSeek = newRefusals.last ?? shown.refusedSeek
            shown.titles = (shown.titles + newTitles).suffix(64)
        }
        for state in newStates { states.send(state) }
        for title in newTitles { titles.send(title) }
        for refusal in newRefusals { refusals.send(refusal) }
    }
}
