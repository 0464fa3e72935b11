// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Synchronization

/// Fills a block with sound. Gets the engine's frame counter, the number of frames and the samples' memory; returns the number of
/// frames filled. Runs on the render thread: it must not wait, allocate, free, log or throw.
public typealias AudioSourceRenderBlock = @Sendable (_ sampleTime: Int64, _ frameCount: Int, _ output: Channels) -> Int
/// Changes a block of sound in place. Runs on the render thread, as ``AudioSourceRenderBlock``.
public typealias AudioEffectRenderBlock =
    @Sendable (_ sampleTime: Int64, _ frameCount: Int, _ samples: Channels) -> Void

/// Receives a block of sound, read-only. Runs on the render thread, as ``AudioSourceRenderBlock``.
public typealias AudioSinkReceiverBlock =
    @Sendable (_ sampleTime: Int64, _ frameCount: Int, _ input: ReadOnlyChannels) -> Void

/// The faults of a caller's render block.
public struct RenderBlockFaults: Hashable, Sendable {
    /// Frames that the block did not fill; they are output as silence.
    public let missingFrames: Int
    /// Samples of the block that were NaN or infinite; they are output as silence.
    public let invalidSamples: Int
    /// Calls that took longer than their sound lasts.
    public let lateCalls: Int

    init(_ counters: Counters) {
        missingFrames = counters[0]
        invalidSamples = counters[1]
        lateCalls = counters[2]
    }
}

/// A node that outputs sound from a caller's block (`AVAudioSourceNode`).
public final class AudioSourceNode: AudioNode, @unchecked Sendable {
    private let format: AudioFormat?
    private let block: AudioSourceRenderBlock
    private let serviceBlock: (@Sendable () -> Void)?
    private let prepareBlock: (@Sendable (Double) -> Void)?
    private let counters = Counters(3)

    /// - Parameters:
    ///   - format: the format of the block's output; nil for the engine's output format.
    ///   - service: work for the block that must not run on the render thread. The engine's own thread calls it every 20 ms, in
    ///     manual rendering ``AudioEngine/renderOffline(_:frameCount:input:)`` before and after each block.
    ///   - prepare: receives the engine's rate in hertz before the block's first call after a start. Called under the engine's
    ///     lock, on the thread that starts the engine or edits it: it must not call the engine.
    public init(
        format: AudioFormat? = nil, name: String = "source", service: (@Sendable () -> Void)? = nil,
        prepare: (@Sendable (_ engineRate: Double) -> Void)? = nil, block: @escaping AudioSourceRenderBlock
    ) {
        self.format = format
        self.block = block
        serviceBlock = service
        prepareBlock = prepare
        super.init(name: name)
    }

    public override var numberOfInputs: Int? { 0 }
    override var needsService: Bool { serviceBlock != nil }
    override func callBack() { serviceBlock?() }
    /// The block's faults so far.
    public var faults: RenderBlockFaults { RenderBlockFaults(counters) }

    override func negotiate(
        _ inputs: [Int: AudioFormat], engine: EngineFormat
    ) throws(AudioEngineError) -> NodeFormats {
        NodeFormats(inputs: [:], output: format ?? engine.output)
    }

    override func makeState(_ formats: NodeFormats, engineRate: Double) throws(AudioEngineError) -> RenderState {
        prepareBlock?(engineRate)
        return CallbackState.memory(block, formats, counters)
    }
}

/// A node that processes its input with a caller's block.
public final class AudioEffectNode: AudioNode, @unchecked Sendable {
    private let block: AudioSourceRenderBlock
    private let counters = Counters(3)

    /// Creates an effect that processes its input with `block`.
    public init(name: String = "effect", block: @escaping AudioEffectRenderBlock) {
        self.block = CallbackState.filling(block)
        super.init(name: name)
    }

    /// The block's faults so far.
    public var faults: RenderBlockFaults { RenderBlockFaults(counters) }
    override var worksInPlace: Bool { true }

    override func makeState(_ formats: NodeFormats, engineRate: Double) throws(AudioEngineError) -> RenderState {
        CallbackState.memory(block, formats, counters)
    }
}

/// Passes the graph's sound to the caller's block, on the render thread (`AVAudioSinkNode`).
public final class AudioSinkNode: AudioNode, @unchecked Sendable {
    private let block: AudioSinkReceiverBlock
    private let serviceBlock: (@Sendable () -> Void)?
    private let prepareBlock: (@Sendable (Double) -> Void)?

    /// Creates a sink that passes its input to `block`. All samples are finite, because the graph checks its sources.
    /// - Parameters:
    ///   - service: as in ``AudioSourceNode/init(format:name:service:prepare:block:)``.
    ///   - prepare: as in ``AudioSourceNode/init(format:name:service:prepare:block:)``.
    public init(
        name: String = "sink", service: (@Sendable () -> Void)? = nil,
        prepare: (@Sendable (_ engineRate: Double) -> Void)? = nil, block: @escaping AudioSinkReceiverBlock
    ) {
        self.block = block
        serviceBlock = service
        prepareBlock = prepare
        super.init(name: name)
    }

    public override var numberOfOutputs: Int { 0 }
    override var needsService: Bool { serviceBlock != nil }
    override func callBack() { serviceBlock?() }

    override func makeState(_ formats: NodeFormats, engineRate: Double) throws(AudioEngineError) -> RenderState {
        prepareBlock?(engineRate)
        return RenderMemory(SinkState(block: block), function: SinkState.function)
    }
}
