// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// A unit's kernel or plug-in with its memory, for a render thread.
///
/// Created and freed on the control thread. The pointers are valid as long as this object lives.
public final class UnitInstance: @unchecked Sendable {  // one render thread at a time uses `state`
    /// The unit's name, parameters and presets.
    public let description: UnitDescription
    /// The functions that set the unit's parameters, process a block, and reset the unit.
    package let functions: UnitFunctions
    /// The first argument of the functions: the unit's own memory.
    package let state: UnsafeMutableRawPointer
    /// The sample rate in hertz.
    public let sampleRate: Double
    /// The number of input channels.
    public let inputChannelCount: Int
    /// The number of output channels.
    public let outputChannelCount: Int
    /// The delay of the output after the input, in frames.
    public let latency: Int
    /// The frames of silent input after which silent output stays silent.
    package let memory: Int
    private let free: (UnsafeMutableRawPointer) -> Void

    /// Creates one of Earshot's units with its default values.
    init<Kernel: UnitKernel & ~Copyable>(_: Kernel.Type, sampleRate: Double, channelCount: Int) {
        let kernel = UnsafeMutablePointer<Kernel>.allocate(capacity: 1)
        kernel.initialize(to: Kernel(sampleRate: sampleRate, channelCount: channelCount))
        description = Kernel.unit
        functions = Kernel.functions
        state = UnsafeMutableRawPointer(kernel)
        self.sampleRate = sampleRate
        inputChannelCount = channelCount
        outputChannelCount = Kernel.outputChannelCount(of: channelCount)
        latency = kernel.pointee.latency
        memory = kernel.pointee.memory
        free = { state in
            let kernel = state.assumingMemoryBound(to: Kernel.self)
            kernel.deinitialize(count: 1)
            kernel.deallocate()
        }
        set(description.defaultValues)
    }

    /// Creates a unit of other functions that follow a kernel's rules, such as a plug-in.
    package init(
        description: UnitDescription, functions: UnitFunctions, state: UnsafeMutableRawPointer, sampleRate: Double,
        inputChannelCount: Int, outputChannelCount: Int, latency: Int, memory: Int,
        free: @escaping (UnsafeMutableRawPointer) -> Void
    ) {
        self.description = description
        self.functions = functions
        self.state = state
        self.sampleRate = sampleRate
        self.inputChannelCount = inputChannelCount
        self.outputChannelCount = outputChannelCount
        self.latency = latency
        self.memory = memory
        self.free = free
        set(description.defaultValues)
    }

    deinit { free(state) }

    /// Sets all parameters, in the order of the description, over `frameCount` frames; on the render thread, or before it starts.
    public func set(_ values: [Float], over frameCount: Int = 0) {
        precondition(values.count == description.parameters.count)
        if values.isEmpty { return functions.callSet(state, [0], over: frameCount) }
        functions.callSet(state, values, over: frameCount)
    }

    /// Renders a block; for one thread at a time.
    public func process(_ input: Channels, _ output: Channels, offset: Int = 0, frameCount: Int) {
        functions.callProcess(state, UnitBlock(input: input, output: output, offset: offset, frameCount: frameCount))
    }

    /// Forgets all sound.
    public func reset() { functions.callReset(state) }
}
