// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioCodecs
import EarshotAudioDSP
import EarshotAudioEngine

/// Receives a filled buffer; enqueue it again after use. Never called on the render thread.
public typealias AudioInputQueueCallback = @Sendable (AudioInputQueue, AudioQueueBuffer) -> Void

/// Records into buffers, one behind the other (`AudioQueueNewInput`).
///
/// Each buffer holds frames without a hole, and says the time of the first. Where there is no buffer, what is captured is lost:
/// counted, told with its time, and the next buffer begins behind it. Nothing is reordered, nothing kept beyond the buffers there
/// are. Packets are encoded on the queue's own thread. Any thread, but a render thread.
public final class AudioInputQueue: Sendable {
    /// The most buffers a queue has.
    public static let maximumBufferCount = QueueBuffers.maximumCount

    /// The format of the buffers; for AAC it has the decoder's configuration.
    public let format: AudioQueueFormat
    /// The encoding of the sound.
    public let encoding: AudioQueueEncoding
    /// Frames that packets decode to before the first one that was recorded.
    public let primingFrames: Int
    /// The engine that it records from.
    public let engine: AudioEngine
    /// Buffers that have been filled, of a queue without callback; for one task.
    public let buffers: AsyncStream<AudioQueueBuffer>

    let state: LockedValue<InputQueueControl>
    let renderer: InputQueueRenderer
    let thread: QueueThread
    private let listeners = QueueListeners()
    let callback: AudioInputQueueCallback?
    let recorded: AsyncStream<AudioQueueBuffer>.Continuation
    private let converter: AudioConverterNode
    private let sink: AudioSinkNode

    /// A queue that records what a node gives, converted to its rate and channels.
    /// - Parameters:
    ///   - node: of the engine; what the device captures unless said otherwise.
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

    /// Memory for so many frames of PCM, or for packets of as many.
    /// - Throws: ``AudioQueueError/tooManyBuffers(maximum:)``, ``AudioQueueError/bufferTooLarge(maximum:)``.
    public func allocateBuffer(frameCount: Int) throws(AudioQueueError) -> AudioQueueBuffer {
        precondition(frameCount >= 1)
        return try allocateBuffer(packetCount: format.packetCount(ofFrames: frameCount))
    }

    /// Memory for so many seconds.
    public func allocateBuffer(duration: Double) throws(AudioQueueError) -> AudioQueueBuffer {
        try allocateBuffer(frameCount: format.frameCount(ofSeconds: duration))
    }

    /// Memory for so many packets of any size the codec has. What the encoder still holds at the stop comes in one more buffer,
    /// which the queue has for that alone: enqueue it as well, or the next stop makes another.
    public func allocateBuffer(packetCount: Int) throws(AudioQueueError) -> AudioQueueBuffer {
        try renderer.buffers.allocate(packetCount: packetCount, of: format, for: ObjectIdentifier(self))
    }

    /// Gives a buffer to be filled, behind those that are there. What is not begun when the queue stops is kept for the next start.
    /// - Throws: ``AudioQueueError/foreignBuffer``, ``AudioQueueError/enqueuedAlready``.
    public func enqueue(_ buffer: AudioQueueBuffer) throws(AudioQueueError) {
        guard buffer.queue == ObjectIdentifier(self) else { throw .foreignBuffer }
        guard buffer.claim() else { throw .enqueuedAlready }
        buffer.removeAll()
        let renderer = renderer
        state.withLock { $0.push(buffer, renderer) }
    }

    // MARK: What can be seen

    /// Peak and mean square of the last block that came, also while it does not record (`kAudioQueueProperty_CurrentLevelMeter`).
    public var level: Level { state.withLock { _ in renderer.level.load() } }

    /// Returns true if it has been started and neither paused nor stopped.
    public var isRunning: Bool { state.withLock { $0.phase == .running } }

    /// The error that ended the recording early: an encoder that failed, as ``AudioQueueEvent/failed(_:)`` tells.
    public var error: CodecError? { state.withLock { $0.error } }

    /// Frames recorded and lost so far.
    public var statistics: AudioQueueStatistics {
        let controls = renderer.controls
        let unencodable = state.withLock { $0.unencodable }
        return AudioQueueStatistics(
            frameCount: controls[.played] - unencodable, overrun: controls[.overrun], skipped: controls[.skipped],
            unencodable: unencodable)
    }

    /// The events from now on; the newest 256 are kept for a slow reader. Any number may listen.
    public var events: AsyncStream<AudioQueueEvent> { listeners.events }

    /// Calls `handler` with what happens, in order, on the thread that found it: never the render thread. One; nil for none.
    public func setEventHandler(_ handler: (@Sendable (AudioQueueEvent) -> Void)?) {
        listeners.setHandler(handler)
    }

    func send(_ event: AudioQueueEvent) { listeners.send(event) }
}

/// Breaks the ring between a queue and its node.
final class WeakInputQueue: @unchecked Sendable {  // set once, before anyone looks
    weak var queue: AudioInputQueue?
}
