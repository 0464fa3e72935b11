// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioCodecs
import EarshotAudioDSP
import EarshotAudioEngine

/// Receives a filled buffer; enqueue it again after use. Never called on the render thread.
public typealias AudioInputQueueCallback = @Sendable (AudioInputQueue, AudioQueueBuffer) -> Void

/// Records into buffers, one after the other (`AudioQueueNewInput`).
///
/// A buffer holds contiguous frames and the time of the first. If no buffer is enqueued, captured frames are lost: they are
/// counted and reported with their time, and the next buffer begins after them. Frames stay in order, and PCM frames are kept
/// only in the buffers. Packets are encoded on the queue's own thread. Call from any thread except a render thread.
public final class AudioInputQueue: Sendable {
    /// The maximum number of buffers of a queue.
    public static let maximumBufferCount = QueueBuffers.maximumCount

    /// The format of the buffers; for AAC it has the decoder's configuration.
    public let format: AudioQueueFormat
    /// The encoding of the recorded sound.
    public let encoding: AudioQueueEncoding
    /// The number of frames that the recorded packets decode to before the first recorded frame; 0 for PCM.
    public let primingFrames: Int
    /// The engine whose node the queue records.
    public let engine: AudioEngine
    /// The filled buffers of a queue without a callback; for one task.
    public let buffers: AsyncStream<AudioQueueBuffer>

    let state: LockedValue<InputQueueControl>
    let renderer: InputQueueRenderer
    let thread: QueueThread
    private let listeners = QueueListeners()
    let callback: AudioInputQueueCallback?
    let recorded: AsyncStream<AudioQueueBuffer>.Continuation
    private let converter: AudioConverterNode
    private let sink: AudioSinkNode

    /// Creates a queue that records a node's output, converted to the queue's rate and channels.
    /// - Parameters:
    ///   - node: a node of the engine; by default the engine's input.
    ///   - callback: receives filled buffers; without it ``buffers`` has them. Called on the queue's own thread, in manual
    ///     rendering from ``AudioEngine/renderOffline(_:frameCount:input:)``.
    /// - Throws: ``AudioQueueError/codec(_:)``, ``AudioQueueError/engine(_:)``.
    public init(
        _ encoding: AudioQueueEncoding, on engine: AudioEngine, from node: AudioNode? = nil, name: String = "recording",
        callback: AudioInputQueueCallback? = nil
    ) throws(AudioQueueError) {
        self.encoding = encoding
        self.engine = engine
        self.callback = callback
        let renderer = InputQueueRenderer(capacity: Self.maximumBufferCount)
        self.renderer = renderer
        thread = QueueThread(wakeup: renderer.wakeup)
        do throws(CodecError) {
            let encoder = try PacketEncoder.make(encoding)
            primingFrames = encoder?.primingFrames ?? 0
            if case .linearPCM(let format) = encoding {
                self.format = .linearPCM(format)
            } else {
                guard let encoder else { preconditionFailure("what is not PCM has an encoder") }
                format = encoder.format
            }
            state = LockedValue(InputQueueControl(encoder: encoder))
        } catch { throw .codec(error) }
        (buffers, recorded) = AsyncStream.makeStream(of: AudioQueueBuffer.self)
        let served = WeakInputQueue()
        let rate = format.processingFormat.sampleRate
        converter = AudioConverterNode(to: format.processingFormat, name: "\(name) converter")
        sink = AudioSinkNode(
            name: name, service: { served.queue?.serveUnlessThreaded() },
            prepare: { renderer.controls.setRatio(rate / $0) }
        ) { time, count, input in renderer.capture(time, count, input) }
        served.queue = self
        let (converter, sink) = (converter, sink)
        do throws(AudioEngineError) {
            try engine.edit { edit throws(AudioEngineError) in
                try edit.attach(converter)
                try edit.attach(sink)
                try edit.connect(node ?? engine.inputNode, to: converter)
                try edit.connect(converter, to: sink)
            }
        } catch { throw .engine(error) }
    }

    deinit {
        thread.stop()
        recorded.finish()
        renderer.controls.halt()
        try? engine.detach(sink)
        try? engine.detach(converter)
    }

    // MARK: Buffers

    /// Allocates a buffer for `frameCount` frames of PCM, or for packets that decode to at least as many frames.
    /// - Throws: ``AudioQueueError/tooManyBuffers(maximum:)``, ``AudioQueueError/bufferTooLarge(maximum:)``.
    public func allocateBuffer(frameCount: Int) throws(AudioQueueError) -> AudioQueueBuffer {
        precondition(frameCount >= 1)
        return try allocateBuffer(packetCount: format.packetCount(ofFrames: frameCount))
    }

    /// Allocates a buffer for this number of seconds.
    public func allocateBuffer(duration: Double) throws(AudioQueueError) -> AudioQueueBuffer {
        try allocateBuffer(frameCount: format.frameCount(ofSeconds: duration))
    }

    /// Allocates a buffer for this number of packets of the codec's maximum size. The encoder's remainder at the stop is
    /// delivered in an extra buffer that the queue keeps for it. Enqueue that buffer as well, or the next stop allocates another.
    public func allocateBuffer(packetCount: Int) throws(AudioQueueError) -> AudioQueueBuffer {
        try renderer.buffers.allocate(packetCount: packetCount, of: format, for: ObjectIdentifier(self))
    }

    /// Enqueues a buffer to be filled, after those already enqueued. A buffer that is still empty when the queue stops stays
    /// enqueued for the next start.
    /// - Throws: ``AudioQueueError/foreignBuffer``, ``AudioQueueError/enqueuedAlready``.
    public func enqueue(_ buffer: AudioQueueBuffer) throws(AudioQueueError) {
        guard buffer.queue == ObjectIdentifier(self) else { throw .foreignBuffer }
        guard buffer.claim() else { throw .enqueuedAlready }
        buffer.removeAll()
        let renderer = renderer
        state.withLock { $0.push(buffer, renderer) }
    }

    // MARK: State

    /// The peak and mean square of the last captured block, also while the queue is not recording
    /// (`kAudioQueueProperty_CurrentLevelMeter`).
    public var level: Level { state.withLock { _ in renderer.level.load() } }

    /// True if the queue was started and is neither paused nor stopped.
    public var isRunning: Bool { state.withLock { $0.phase == .running } }

    /// The encoder error that ended the recording early, nil if there was none; also sent as ``AudioQueueEvent/failed(_:)``.
    public var error: CodecError? { state.withLock { $0.error } }

    /// The frames recorded and lost so far.
    public var statistics: AudioQueueStatistics {
        let controls = renderer.controls
        let unencodable = state.withLock { $0.unencodable }
        return AudioQueueStatistics(
            frameCount: controls[.played] - unencodable, overrun: controls[.overrun], skipped: controls[.skipped],
            unencodable: unencodable)
    }

    /// The events from now on, for any number of readers. For a slow reader the newest 256 are kept.
    public var events: AsyncStream<AudioQueueEvent> { listeners.events }

    /// Calls `handler` with each event, in order, on the thread that sends the event, never the render thread. Replaces the
    /// previous handler; nil removes it.
    public func setEventHandler(_ handler: (@Sendable (AudioQueueEvent) -> Void)?) {
        listeners.setHandler(handler)
    }

    func send(_ event: AudioQueueEvent) { listeners.send(event) }
}

/// Breaks the retain cycle between a queue and its node.
final class WeakInputQueue: @unchecked Sendable {  // set once, before any use
    weak var queue: AudioInputQueue?
}
