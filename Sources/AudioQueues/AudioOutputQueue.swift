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
/// What was enqueued is heard once and whole; where nothing is, silence is, which is counted and told. The queue holds what
/// its buffers hold and no more, so delay cannot grow. Buffers come back in order, each when its last frame has been rendered,
/// by the callback or by ``buffers``: while no engine renders they wait until one does. Any thread, but a render thread.
public final class AudioOutputQueue: Sendable {
    /// The most buffers a queue has.
    public static let maximumBufferCount = QueueBuffers.maximumCount

    /// The format of the buffers.
    public let format: AudioQueueFormat
    /// The engine that it plays on.
    public let engine: AudioEngine
    /// The mixer of its sound, with volume, pan and meter; connected to the engine's main mixer at first.
    public let mixer: AudioMixerNode
    /// Buffers that have been played, of a queue without callback; for one task.
    public let buffers: AsyncStream<AudioQueueBuffer>

    let state: LockedValue<OutputQueueControl>
    let renderer: OutputQueueRenderer
    let thread: QueueThread
    private let listeners = QueueListeners()
    let callback: AudioOutputQueueCallback?
    let played: AsyncStream<AudioQueueBuffer>.Continuation
    /// Taken by the thread that hands buffers back, so that they come in order.
    let serving = LockedValue(())
    private let source: AudioSourceNode
    private let isVarispeed: Bool

    /// A queue that plays on an engine, which may be running.
    /// - Parameters:
    ///   - isVarispeed: whether ``rate`` can be changed. Sound then passes a resampler, which holds 32 frames.
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

    /// Memory for so many packets of any size the codec has (`AudioQueueAllocateBufferWithPacketDescriptions`).
    public func allocateBuffer(packetCount: Int) throws(AudioQueueError) -> AudioQueueBuffer {
        try renderer.buffers.allocate(packetCount: packetCount, of: format, for: ObjectIdentifier(self))
    }

    /// Puts a buffer behind those that are there (`AudioQueueEnqueueBuffer`). Packets are decoded on the queue's thread.
    /// - Parameter time: when its first frame is to be heard; ``AudioQueueTime/now`` for right behind what is before it. What is late
    ///   is left out and told, so that the rest is in time. To the frame while ``rate`` is 1.
    /// - Throws: ``AudioQueueError``; the buffer stays the caller's.
    public func enqueue(_ buffer: AudioQueueBuffer, at time: AudioQueueTime = .now) throws(AudioQueueError) {
        _ = try place(buffer, at: time)
    }

    /// Enqueues a buffer; returns its number among all if it is PCM.
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

    /// Decodes what is enqueued before the start, on the caller's thread, so that the first frames are there at once
    /// (`AudioQueuePrime`).
    /// - Returns: frames that are ready.
    @discardableResult
    public func prime() -> Int {
        let renderer = renderer
        return state.withLock { state in
            state.pump(renderer)
            return state.ready - renderer.controls[.played]
        }
    }

    // MARK: What can be set and seen

    /// A factor, 0 to 8; moves over 20 ms.
    public var volume: Float {
        get { mixer.input(0).volume }
        set {
            mixer.input(0).volume = newValue
            send(.changed(.volume(volume)))
        }
    }

    /// Moves ``volume`` within so many seconds; it has its new value at once.
    /// - Throws: `AudioEngineError.tooManyScheduled(node:)`.
    public func setVolume(_ volume: Float, fadeDuration: Double) throws(AudioEngineError) {
        try mixer.input(0)["volume"]?.setValue(volume, ramp: fadeDuration)
        send(.changed(.volume(self.volume)))
    }

    /// −1 is left, 1 is right, for a queue of two channels.
    public var pan: Float {
        get { mixer.input(0).pan }
        set {
            mixer.input(0).pan = newValue
            send(.changed(.pan(pan)))
        }
    }

    /// The speed, ½ to 2, by a varispeed: the pitch moves with it (for speed alone there is ``AudioPlayer``). Above 1 what lies
    /// over the half rate divided by it folds back.
    public var rate: Float { state.withLock { $0.rate } }

    /// Sets ``rate``.
    /// - Throws: ``AudioQueueError/noRate(detail:)`` if the queue was not made for it, or the rate is not ½ to 2.
    public func setRate(_ rate: Float) throws(AudioQueueError) {
        guard isVarispeed else { throw .noRate(detail: "make the queue with isVarispeed: true") }
        guard (0.5...2).contains(rate) else { throw .noRate(detail: "\(rate) is outside 0.5 to 2") }
        state.withLock { $0.rate = rate }
        renderer.controls.setRate(rate)
        send(.changed(.rate(rate)))
    }

    /// Peak and mean square of what it gave last, after volume and pan (`kAudioQueueProperty_CurrentLevelMeter`).
    public var level: Level { mixer.level }

    /// Returns true if it has been started and neither paused nor come to its end.
    public var isRunning: Bool { state.withLock { $0.phase == .running } }

    /// Frames played and lost so far.
    public var statistics: AudioQueueStatistics {
        let undecodable = state.withLock { $0.undecodable }
        let controls = renderer.controls
        return AudioQueueStatistics(
            frameCount: controls[.played], underrun: controls[.underrun], late: controls[.late],
            undecodable: undecodable)
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
final class WeakQueue: @unchecked Sendable {  // set once, before anyone looks
    weak var queue: AudioOutputQueue?
}
