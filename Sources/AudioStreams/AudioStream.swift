// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Foundation
import Synchronization

/// Plays a stream of sound from the network, or from a pipe: MP3, AAC, Ogg Opus or Vorbis, or WAVE over http or https, of Icecast, SHOUTcast or any
/// server, or what an M3U or PLS playlist names.
///
/// A thread of its own receives, decodes and fills a ring; the render thread takes frames out of it with ``render``, which an
/// engine's source node is given, so that effects are on the way. Where the network is slow or gone silence plays, ``states`` says
/// so, and the connection is made anew.
///
/// ```swift
/// let stream = try AudioStream("http://localhost:8000/live", format: AudioFormat(sampleRate: 48_000, channelCount: 2))
/// let node = AudioSourceNode(format: stream.format, block: stream.render)
/// try stream.start()
/// ```
/// Every method is for any thread but the render thread.
public final class AudioStream: Sendable {
    /// The address without name, password and query.
    public let address: String
    /// The format of ``render``.
    public let format: AudioFormat
    /// Fills a block, on the render thread: engine's frame counter, frames wanted, where to; all of them are filled, with silence
    /// if there is nothing, as once the stream is stopped.
    public let render: @Sendable (_ sampleTime: Int64, _ frameCount: Int, _ output: Channels) -> Int

    private let playout: StreamPlayout
    private let worker: StreamWorker
    private let thread: ServiceThread
    private let stopping = Mutex(())

    /// It connects at ``start()``.
    /// - Parameters:
    ///   - address: `http://…` or `https://…`, of a stream or a playlist; may have a name and password, which are never shown.
    ///   - format: of the engine.
    /// - Throws: ``AudioStreamError/badAddress(_:)``.
    public convenience init(
        _ address: String, format: AudioFormat, options: AudioStreamOptions = AudioStreamOptions()
    ) throws(AudioStreamError) {
        self.init(try StreamAddress(address), pipe: nil, format: format, options: options)
    }

    /// Plays what another program writes into a pipe, as it comes, to its end. It can be heard once.
    /// - Parameters:
    ///   - descriptor: read from on the stream's thread, and not closed.
    ///   - prefix: what was read of it before.
    ///   - name: what errors call it.
    public convenience init(
        reading descriptor: Int32, after prefix: [UInt8] = [], name: String = "standard input", format: AudioFormat,
        options: AudioStreamOptions = AudioStreamOptions()
    ) {
        var options = options
        options.stallTimeout = .infinity
        self.init(
            StreamAddress(pipe: name), pipe: StreamPipe(descriptor, prefix: prefix), format: format, options: options)
    }

    /// Returns an address without name, password and query; it need not be playable.
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
        render = { [playout] _, frameCount, output in  // which the frames are read from, as long as this is held
            withExtendedLifetime(playout) { renderer.render(output, frameCount: frameCount) }
        }
        thread = ServiceThread(name: "stream", interval: 1) { worker.work() }
    }

    deinit { stop() }

    /// Connects and plays; once.
    /// - Throws: ``AudioStreamError/system(code:)``.
    public func start() throws(AudioStreamError) {
        let code = thread.start()
        guard code == 0 else { throw .system(code: code) }
    }

    /// Ends the connection and the thread, and waits for it. Silence plays from now on.
    public func stop() {
        stopping.withLock { _ in
            thread.stop()
            worker.stop()
        }
    }

    /// Goes to a frame of a file: silence until it is there, and then from that very frame on in WAVE, Ogg, MP3 of a constant bit rate
    /// and wherever it was heard before; else as near as the file tells, and ``framePosition`` is as near.
    ///
    /// While it is not known yet whether that can be, it is tried as soon as it is; ``refusedSeeks`` tells if not.
    /// - Parameter frame: at the rate of ``format``; one before the beginning is the beginning, one behind the end is the end.
    /// - Throws: ``AudioStreamError/notSeekable(address:reason:)``, and it goes on as it was; or why the stream failed.
    public func seek(to frame: Int) throws(AudioStreamError) {
        let playout = playout
        let refusal = worker.shown.withLock { shown -> AudioStreamError? in
            if let refusal = shown.refusal { return refusal }
            shown.goal = (StreamGoal.bounded(frame), playout.beginSeek())
            return nil
        }
        if let refusal { throw refusal }
    }

    /// Gives the next frames to who plays them from buffers of his own, in the place of ``render``: on one thread, which may be any
    /// but a render thread. What comes before a stall fades out within 5 ms, what comes after it, or after a seek, fades in.
    /// - Parameter offset: the first frame of `channels` to be written.
    /// - Returns: as many as there are, 0 in a stall; nil once the last frame has been given.
    public func read(into channels: Channels, frameCount: Int, offset: Int = 0) -> Int? {
        let isComplete = !playout.isSeeking && playout.isComplete
        let got = playout.renderer.readFrames(channels, frameCount: frameCount, offset: offset, fadesBeforeSeek: false)
        return got == 0 && isComplete && playout.ring.reader.heldFrames == 0 ? nil : got
    }

    /// The present state.
    public var state: AudioStreamState { worker.shown.withLock { $0.state } }
    /// The states from now on; the newest 64 are kept for a slow reader.
    public var states: AsyncStream<AudioStreamState> { worker.states.stream(keeping: 64) }
    /// The title that holds for what plays now.
    public var title: AudioStreamTitle? { title(at: framePosition) }
    /// The title that holds for a frame, as ``framePosition``; the newest 64 are known.
    public func title(at frame: Int) -> AudioStreamTitle? {
        worker.shown.withLock { $0.titles.last { $0.frame <= frame } }
    }
    /// The server's description of the stream; nil before its response.
    public var source: AudioStreamSource? { worker.shown.withLock { $0.source } }
    /// Titles from now on, told when they come, which is before they are heard: each says from which frame on it holds. The newest
    /// 64 are kept for who is slow.
    public var titles: AsyncStream<AudioStreamTitle> { worker.titles.stream(keeping: 64) }
    /// Frames of the stream that were rendered so far, silence in stalls not counted.
    public var framesPlayed: Int { playout.framesPlayed }
    /// The place in the sound of the frame that is rendered next, or that a seek goes to; of a station counted from where it was joined,
    /// what was left out included.
    public var framePosition: Int {
        worker.shown.withLock { $0.goal?.frame ?? $0.pendingFrame } ?? playout.framePosition
    }
    /// The place in the sound of the frame that is read next, wherever a seek is still told to go.
    package var readPosition: Int { playout.framePosition }
    /// Seeks that were begun while it was not known whether they could be, and could not: why. It went on as it was.
    public var refusedSeeks: AsyncStream<AudioStreamError> { worker.refusals.stream() }
    /// The reason that the last seek failed; returned once.
    package func takeRefusal() -> AudioStreamError? {
        worker.shown.withLock { shown in
            defer { shown.refusedSeek = nil }
            return shown.refusedSeek
        }
    }
    /// Returns true if the last frame there will be is held, or was rendered.
    package var hasAll: Bool { playout.isComplete }
    /// Seconds of sound that are held.
    public var bufferedSeconds: Double { Double(playout.ring.writer.heldFrames) / format.sampleRate }
    /// The counts so far.
    public var statistics: AudioStreamStatistics { worker.shown.withLock { $0.statistics } }
}

/// The stream's thread: it shows the core the network and the time, and does what the core says.
final class StreamWorker: @unchecked Sendable {  // all but what is shared is the thread's
    struct Shown {
        var state = AudioStreamState.stopped
        var statistics = AudioStreamStatistics()
        var titles: [AudioStreamTitle] = []
        var source: AudioStreamSource?
        /// The reason that the stream is not seekable; nil if it is, or while unknown.
        var refusal: AudioStreamError?
        /// A seek that the thread has not seen yet, and where one goes that it has.
        var goal: (frame: Int, number: Int)?
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
    private static let pause = 20  // milliseconds

    init(_ core: StreamCore, _ pipe: StreamPipe?, _ options: AudioStreamOptions) {
        self.core = core
        self.pipe = pipe
        self.options = options
        shown = Mutex(Shown(refusal: core.refusal))
    }

    /// One round. Returns whether there is to be another.
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
            if let ending = transfer.work(milliseconds: Self.pause) {
                self.transfer = nil
                if !core.hasActions { core.end(ending, at: .now()) }
            }
        } else {
            usleep(UInt32(Self.pause) * 1_000)
        }
        core.tick(at: .now())
        act()
        tell()
        return true
    }

    /// Once the thread has ended.
    func stop() {
        transfer = nil
        guard hasStarted, core.state != .stopped else { return }
        core.stop()
        tell()
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

    private func tell() {
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
