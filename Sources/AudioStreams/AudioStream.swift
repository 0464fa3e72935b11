import AudioBase
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
    /// Where it is, without name, password and query.
    public let address: String
    /// What ``render`` gives.
    public let format: AudioFormat
    /// Fills a block, on the render thread: engine's frame counter, frames wanted, where to; all of them are filled, with silence
    /// where there is nothing, as once the stream is stopped.
    public let render: @Sendable (_ sampleTime: Int64, _ frameCount: Int, _ output: Channels) -> Int

    private let playout: StreamPlayout
    private let worker: StreamWorker
    private let thread: ServiceThread
    private let stopping = Mutex(())

    /// Nothing is connected before ``start()``.
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

    /// What of an address may be shown: all but name, password and query; it need not be one that can be played.
    package static func shown(_ address: String) -> String { StreamAddress.shown(address) }

    private init(_ address: StreamAddress, pipe: StreamPipe?, format: AudioFormat, options: AudioStreamOptions) {
        let frames = max(StreamDecoder.leastCapacity(format), Int(options.buffer * format.sampleRate))
        let playout = StreamPlayout(ring: AudioRing(channelCount: format.channelCount, capacity: frames))
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

    /// Gives the next frames to who plays them from buffers of his own, in the place of ``render``: on one thread, which may be any
    /// but a render thread. What comes before a stall fades out within 10 ms, what comes after it fades in.
    /// - Parameter offset: the first frame of `channels` to be written.
    /// - Returns: as many as there are, 0 in a stall; nil once the last frame has been given.
    public func read(into channels: Channels, frameCount: Int, offset: Int = 0) -> Int? {
        let isComplete = playout.isComplete
        let got = playout.renderer.take(
            channels, frameCount: frameCount, offset: offset, fadeLength: max(1, Int(format.sampleRate * 0.01)))
        return got == 0 && isComplete && playout.ring.reader.heldFrames == 0 ? nil : got
    }

    /// What it does now.
    public var state: AudioStreamState { worker.shown.withLock { $0.state } }
    /// What it does, from now on; the newest 64 are kept for who is slow.
    public var states: AsyncStream<AudioStreamState> { worker.states.stream(keeping: 64) }
    /// The title that holds for what plays now.
    public var title: AudioStreamTitle? { title(at: framesPlayed) }
    /// The title that holds for a frame, counted in ``framesPlayed``; the newest 64 are known.
    public func title(at frame: Int) -> AudioStreamTitle? {
        worker.shown.withLock { $0.titles.last { $0.frame <= frame } }
    }
    /// What the server said of it; nil before it answered.
    public var source: AudioStreamSource? { worker.shown.withLock { $0.source } }
    /// Titles from now on, told when they come, which is before they are heard: each says from which frame on it holds. The newest
    /// 64 are kept for who is slow.
    public var titles: AsyncStream<AudioStreamTitle> { worker.titles.stream(keeping: 64) }
    /// Frames of the stream that were rendered so far, silence in stalls not counted.
    public var framesPlayed: Int { playout.framesPlayed }
    /// Whether the last frame there will be is held, or was rendered.
    public var hasAll: Bool { playout.isComplete }
    /// Seconds of sound that are held.
    public var bufferedSeconds: Double { Double(playout.ring.writer.heldFrames) / format.sampleRate }
    /// What it was through so far.
    public var statistics: AudioStreamStatistics { worker.shown.withLock { $0.statistics } }
}

/// The stream's thread: it shows the core the network and the time, and does what the core says.
final class StreamWorker: @unchecked Sendable {  // all but what is shared is the thread's
    struct Shown {
        var state = AudioStreamState.stopped
        var statistics = AudioStreamStatistics()
        var titles: [AudioStreamTitle] = []
        var source: AudioStreamSource?
    }

    let shown = Mutex(Shown())
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
    }

    /// One round. Returns whether there is to be another.
    func work() -> Bool {
        if !hasStarted {
            hasStarted = true
            core.start(at: .now())
        }
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
        let (newStates, newTitles) = (core.takeStates(), core.takeTitles())
        shown.withLock { shown in
            shown.state = core.state
            shown.statistics = core.statistics
            shown.source = core.source ?? shown.source
            shown.titles = (shown.titles + newTitles).suffix(64)
        }
        for state in newStates { states.send(state) }
        for title in newTitles { titles.send(title) }
    }
}
