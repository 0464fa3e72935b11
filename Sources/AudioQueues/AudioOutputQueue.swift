// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioCodecs
import EarshotAudioDSP
import EarshotAudioEngine

/// Receives a played buffer, to be filled and enqueued again. Never called on the render thread.
public typealias AudioOutputQueueCallback = @Sendable (AudioOutputQueue, AudioQueueBuffer) -> Void

/// Plays buffers in the order in which they were enqueued (`AudioQueueNewOutput`).
///
/// ```swift
/// let queue = try AudioOutputQueue(.linearPCM(format), on: engine) { queue, buffer in
///     buffer.frameCount = fill(buffer.samples)
///     try? queue.enqueue(buffer)
/// }
/// for _ in 0..<3 { let buffer = try queue.allocateBuffer(duration: 0.02); … }
/// try queue.start()
/// ```
/// Each enqueued frame is played once. Without a buffer the queue plays silence, counts it and reports it. It keeps no frames
/// outside its buffers, so its delay cannot grow. Buffers are returned in order, each after its last frame was rendered, by the
/// callback or ``buffers``; while the engine does not render, they wait. Call from any thread except a render thread.
public final class AudioOutputQueue: Sendable {
    /// The maximum number of buffers of a queue.
    public static let maximumBufferCount = QueueBuffers.maximumCount

    /// The format of the buffers.
    public let format: AudioQueueFormat
    /// The engine on which the queue plays.
    public let engine: AudioEngine
    /// The mixer node with the queue's volume, pan and meter; at first connected to the engine's main mixer.
    public let mixer: AudioMixerNode
    /// The played buffers of a queue without a callback; for one task.
    public let buffers: AsyncStream<AudioQueueBuffer>

    let state: LockedValue<OutputQueueControl>
    let renderer: OutputQueueRenderer
    let thread: QueueThread
    private let listeners = QueueListeners()
    let callback: AudioOutputQueueCallback?
    let played: AsyncStream<AudioQueueBuffer>.Continuation
    /// Locked by the thread that returns buffers, so that they are returned in order.
    let serving = LockedValue(())
    private let source: AudioSourceNode
    private let isVarispeed: Bool

    /// Creates a queue that plays on an engine, which may be running.
    /// - Parameters:
    ///   - isVarispeed: true to allow changes of ``rate``. Sound then passes a resampler, which delays it by 32 frames.
    ///   - callback: receives played buffers; without it ``buffers`` has them. Called on the queue's own thread, in manual
    ///     rendering from ``AudioEngine/renderOffline(_:frameCount:input:)``.
    /// - Throws: ``AudioQueueError/codec(_:)``, ``AudioQueueError/engine(_:)``.
    public init(
        _ format: AudioQueueFormat, on engine: AudioEngine, isVarispeed: Bool = false, name: String = "queue",
        callback: AudioOutputQueueCallback? = nil
    ) throws(AudioQueueError) {
        self.format = format
        self.engine = engine
        self.callback = callback
        self.isVarispeed = isVarispeed
        let renderer = OutputQueueRenderer(
            format: format.processingFormat, isVarispeed: isVarispeed, capacity: Self.maximumBufferCount)
        self.renderer = renderer
        thread = QueueThread(wakeup: renderer.wakeup)
        do throws(CodecError) {
            state = LockedValue(
                OutputQueueControl(decoder: try format.makeDecoder?(), framesPerPacket: format.framesPerPacket))
        } catch { throw .codec(error) }
        (buffers, played) = AsyncStream.makeStream(of: AudioQueueBuffer.self)
        let served = WeakQueue()
        source = AudioSourceNode(
            format: format.processingFormat, name: name, service: { served.queue?.serveUnlessThreaded() },
            prepare: { renderer.controls.setRatio(format.processingFormat.sampleRate / $0) }
        ) { time, count, output in
            renderer.render(time, count, output)
            return count
        }
        mixer = AudioMixerNode(channelCount: format.processingFormat.channelCount, name: "\(name) mixer")
        served.queue = self
        let (source, mixer) = (source, mixer)
        do throws(AudioEngineError) {
            try engine.edit { edit throws(AudioEngineError) in
                try edit.attach(source)
                try edit.attach(mixer)
                try edit.connect(source, to: mixer)
                try edit.connect(mixer, to: engine.mainMixerNode)
            }
        } catch { throw .engine(error) }
    }

    deinit {
        thread.stop()
        played.finish()
        renderer.controls.halt()
        try? engine.detach(source)
        try? engine.detach(mixer)
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

    /// Allocates a buffer for this number of packets of the codec's maximum size
    /// (`AudioQueueAllocateBufferWithPacketDescriptions`).
    public func allocateBuffer(packetCount: Int) throws(AudioQueueError) -> AudioQueueBuffer {
        try renderer.buffers.allocate(packetCount: packetCount, of: format, for: ObjectIdentifier(self))
    }

    /// Enqueues a buffer after those already enqueued (`AudioQueueEnqueueBuffer`). Packets are decoded on the queue's thread.
    /// - Parameter time: the time at which the first frame is heard; ``AudioQueueTime/now`` for directly after the previous
    ///   buffer. Frames that are late are skipped and reported, so that the remaining frames are in time. Exact to the frame
    ///   while ``rate`` is 1.
    /// - Throws: ``AudioQueueError``; the buffer is then not enqueued.
    public func enqueue(_ buffer: AudioQueueBuffer, at time: AudioQueueTime = .now) throws(AudioQueueError) {
        _ = try place(buffer, at: time)
    }

    /// Enqueues a buffer. Returns the sequence number of a PCM buffer; for packets the result has no meaning.
    func place(_ buffer: AudioQueueBuffer, at time: AudioQueueTime) throws(AudioQueueError) -> Int {
        guard buffer.queue == ObjectIdentifier(self) else { throw .foreignBuffer }
        guard format.isPacketised ? !buffer.packetDescriptions.isEmpty : buffer.frameCount != 0 else {
            throw .emptyBuffer
        }
        guard format.isPacketised || (1...buffer.frameCapacity).contains(buffer.frameCount) else {
            throw .badBuffer(detail: "\(buffer.frameCount) frames; it has room for \(buffer.frameCapacity)")
        }
        guard buffer.claim() else { throw .enqueuedAlready }
        let start = time.frame(of: engine)
        let renderer = renderer
        let sequence = state.withLock { state -> Int? in
            guard !state.isEnding else { return nil }
            state.waiting.append((buffer, start))
            if !format.isPacketised { state.pump(renderer) }
            return state.sequence
        }
        guard let sequence else {
            buffer.release()
            throw .stopping
        }
        renderer.wakeup.handle.wake()
        return sequence
    }

    /// Decodes the enqueued buffers on the caller's thread, so that playback starts at once (`AudioQueuePrime`).
    /// - Returns: the number of frames ready to play.
    @discardableResult
    public func prime() -> Int {
        let renderer = renderer
        return state.withLock { state in
            state.pump(renderer)
            return state.ready - renderer.controls[.played]
        }
    }

    // MARK: Properties

    /// The queue's gain as a factor, 0 to 8; a change takes 20 ms.
    public var volume: Float {
        get { mixer.input(0).volume }
        set {
            mixer.input(0).volume = newValue
            send(.changed(.volume(volume)))
        }
    }

    /// Fades to a ``volume`` within this number of seconds. The property has its new value at once.
    /// - Throws: `AudioEngineError.tooManyScheduled(node:)`.
    public func setVolume(_ volume: Float, fadeDuration: Double) throws(AudioEngineError) {
        try mixer.input(0)["volume"]?.setValue(volume, ramp: fadeDuration)
        send(.changed(.volume(self.volume)))
    }

    /// The pan of a queue of two channels: −1 is left, 1 is right.
    public var pan: Float {
        get { mixer.input(0).pan }
        set {
            mixer.input(0).pan = newValue
            send(.changed(.pan(pan)))
        }
    }

    /// The speed as a factor, ½ to 2, which changes the pitch as well; ``AudioPlayer`` changes the speed alone. Above 1,
    /// frequencies above half the sample rate divided by the speed are aliased.
    public var rate: Float { state.withLock { $0.rate } }

    /// Sets ``rate``.
    /// - Throws: ``AudioQueueError/noRate(detail:)`` if the queue was created without `isVarispeed`, or the rate is outside ½ to
    ///   2.
    public func setRate(_ rate: Float) throws(AudioQueueError) {
        guard isVarispeed else { throw .noRate(detail: "make the queue with isVarispeed: true") }
        guard (0.5...2).contains(rate) else { throw .noRate(detail: "\(rate) is outside 0.5 to 2") }
        state.withLock { $0.rate = rate }
        renderer.controls.setRate(rate)
        send(.changed(.rate(rate)))
    }

    /// The peak and mean square of the last output block, after volume and pan (`kAudioQueueProperty_CurrentLevelMeter`).
    public var level: Level { mixer.level }

    /// True if the queue was started and is neither paused nor stopped.
    public var isRunning: Bool { state.withLock { $0.phase == .running } }

    /// The frames played and lost so far.
    public var statistics: AudioQueueStatistics {
        let undecodable = state.withLock { $0.undecodable }
        let controls = renderer.controls
        return AudioQueueStatistics(
            frameCount: controls[.played], underrun: controls[.underrun], late: controls[.late],
            undecodable: undecodable)
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
final class WeakQueue: @unchecked Sendable {  // set once, before any use
    weak var queue: AudioOutputQueue?
}
