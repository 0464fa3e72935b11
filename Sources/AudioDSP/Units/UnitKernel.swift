// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime
import EarshotAudioBase

/// The input and output of one call of a unit.
@frozen
package struct UnitBlock: BitwiseCopyable {
    /// The input; may be the same memory as ``output``.
    package var input: Channels
    /// The output.
    package var output: Channels
    /// The index of the first frame, in input and in output.
    package var offset: Int
    /// The number of frames.
    package var frameCount: Int

    /// Creates a view of the caller's memory.
    @inlinable @_noLocks
    package init(input: Channels, output: Channels, offset: Int, frameCount: Int) {
        self.input = input
        self.output = output
        self.offset = offset
        self.frameCount = frameCount
    }
}

/// The signal processing of a unit: plain state and three functions, without threads, queues or a graph.
///
/// Rules that make a unit's sound independent of its calls:
/// - Samples depend on the order of calls of ``set(_:over:)`` and the frames between them, never on the frame count of a
///   ``process(_:)``. The caller divides blocks so that each `set` is at its frame.
/// - New kernels with the same values have the same state, and ``reset()`` restores that state (with the current values).
/// - All input is finite and at most a few hundred in magnitude; silent input leads to silent output in the end.
///
/// Created and freed on the control thread; the functions are for the render thread.
protocol UnitKernel: ~Copyable, SendableMetatype {
    /// The unit's name, parameters and presets.
    static var unit: UnitDescription { get }
    /// Creates a kernel. Parameters are undefined until the first ``set(_:over:)``, which has a `frameCount` of 0.
    /// - Parameters:
    ///   - sampleRate: in hertz, 8,000 to 384,000.
    ///   - channelCount: 1 to 32, of the input and usually the output (see ``outputChannelCount(of:)``).
    init(sampleRate: Double, channelCount: Int)

    /// Ramps every parameter to a new value, linearly or in another way without a click.
    /// - Parameters:
    ///   - values: the value of each parameter, in order, within its range.
    ///   - frameCount: the frames of ``process(_:)`` until the values are reached, at most ``UnitRamp/segment``; 0 for at once. A
    ///     later call may come earlier and starts from the present values.
    @_noLocks mutating func set(_ values: UnsafePointer<Float>, over frameCount: Int)
    /// Renders `frameCount` frames and overwrites the output.
    @_noLocks mutating func process(_ block: UnitBlock)
    /// Forgets all sound; a ramp jumps to its end.
    @_noLocks mutating func reset()

    /// Returns the number of output channels for a number of input channels; by default the same number.
    static func outputChannelCount(of inputChannelCount: Int) -> Int
    /// The delay of the output after the input, in frames. Constant.
    var latency: Int { get }
    /// The frames of silent input after which silent output stays silent: the unit's longest memory, not its reverberation.
    var memory: Int { get }
    /// The functions `set`, `process` and `reset` as plain pointers: `UnitFunctions(set: …, process: …, reset: …)`.
    static var functions: UnitFunctions { get }
}

extension UnitKernel where Self: ~Copyable {
    static func outputChannelCount(of inputChannelCount: Int) -> Int { inputChannelCount }
}

/// A kernel's functions as C function pointers, because the render thread must not call through a protocol. Each
/// function is a closure that binds the memory to the kernel's type and calls the kernel's function of the same name.
@frozen
package struct UnitFunctions: Sendable {
    /// Calls a kernel's `set(_:over:)`; receives a pointer to the kernel, the values and the frames.
    package typealias Set = @convention(c) (UnsafeMutableRawPointer, UnsafePointer<Float>, Int) -> Void
    /// Calls a kernel's `process(_:)`; receives pointers to the kernel and to a ``UnitBlock``.
    package typealias Process = @convention(c) (UnsafeMutableRawPointer, UnsafeRawPointer) -> Void
    /// Calls a kernel's `reset()`; receives a pointer to the kernel.
    package typealias Reset = @convention(c) (UnsafeMutableRawPointer) -> Void
    @usableFromInline let set: Set
    @usableFromInline let process: Process
    @usableFromInline let reset: Reset

    /// Creates functions that are safe on the render thread.
    package init(set: @escaping Set, process: @escaping Process, reset: @escaping Reset) {
        self.set = set
        self.process = process
        self.reset = reset
    }
}

extension UnitFunctions {
    /// Calls `set`. Safe on the render thread.
    @inlinable @_noLocks
    package func callSet(_ state: UnsafeMutableRawPointer, _ values: UnsafePointer<Float>, over frameCount: Int) {
        earshot_unit_set(set, state, values, frameCount)
    }

    /// Calls `process`. Safe on the render thread.
    @inlinable @_noLocks
    package func callProcess(_ state: UnsafeMutableRawPointer, _ block: UnitBlock) {
        withUnsafePointer(to: block) { earshot_unit_process(process, state, UnsafeRawPointer($0)) }
    }

    /// Calls `reset`. Safe on the render thread.
    @inlinable @_noLocks
    package func callReset(_ state: UnsafeMutableRawPointer) { earshot_unit_reset(reset, state) }
}
