// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime
import EarshotAudioBase

/// A buffer between nodes: planar samples, and whether all of them are zero.
struct RenderBus: BitwiseCopyable {
    let channels: Channels
    private let silent: UnsafeMutablePointer<Bool>

    init(_ channels: Channels, silent: UnsafeMutablePointer<Bool>) {
        self.channels = channels
        self.silent = silent
    }

    /// True if the block is silent; then the samples are zero as well, for readers that do not check this flag.
    var isSilent: Bool {
        @_noLocks get { silent.pointee }
        @_noLocks nonmutating set { silent.pointee = newValue }
    }

    /// Silences the block.
    @_noLocks
    func silence(_ frameCount: Int) {
        for c in 0..<channels.count { clearSamples(channels[c], frameCount) }
        silent.pointee = true
    }

    /// Copies a block from another bus, channel by channel.
    @_noLocks
    func copy(_ from: RenderBus, _ frameCount: Int) {
        if from.isSilent {
            silence(frameCount)
            return
        }
        for c in 0..<channels.count where channels[c] != from.channels[c] {
            copySamples(channels[c], from.channels[c], frameCount)
        }
        silent.pointee = false
    }
}

/// The arguments of a render function.
struct RenderCall: BitwiseCopyable {
    var inputs: UnsafePointer<RenderBus>
    var inputCount: Int
    var outputs: UnsafePointer<RenderBus>
    var outputCount: Int
    /// The frames to render, counted in the step's rate domain; may be 0 in a slower domain.
    var frameCount: Int
    /// The engine's frame counter at the first frame to render, counted in the step's rate domain.
    var sampleTime: Int64
    var hostTime: HostTime
    /// The device's cycle that contains the slice; ``offset`` is the slice's first frame in the cycle.
    var cycle: UnsafePointer<IOCycle>
    var offset: Int
    /// ``ParameterStore/changeCount`` at the start of the cycle.
    var changeCount: Int

    @_noLocks
    init(
        _ step: RenderStep, frameCount: Int, sampleTime: Int64, hostTime: HostTime, cycle: UnsafePointer<IOCycle>,
        offset: Int, changeCount: Int
    ) {
        inputs = step.inputs
        inputCount = step.inputCount
        outputs = step.outputs
        outputCount = step.outputCount
        self.frameCount = frameCount
        self.sampleTime = sampleTime
        self.hostTime = hostTime
        self.cycle = cycle
        self.offset = offset
        self.changeCount = changeCount
    }
}

/// Receives a node's state and a ``RenderCall``. Each implementation is one line that calls a `@_noLocks` function.
typealias RenderFunction = @convention(c) (UnsafeMutableRawPointer, UnsafeRawPointer) -> Void

/// One instruction of a ``RenderProgram``.
struct RenderStep: BitwiseCopyable {
    var function: RenderFunction
    var state: UnsafeMutableRawPointer
    var inputs: UnsafePointer<RenderBus>
    var inputCount: Int
    var outputs: UnsafePointer<RenderBus>
    var outputCount: Int
    /// The index of the step's rate domain in the program.
    var domain: Int
}
