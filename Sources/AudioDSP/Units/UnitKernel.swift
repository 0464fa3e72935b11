// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime
import EarshotAudioBase

/// The samples of one call of a unit.
@frozen
package struct UnitBlock: BitwiseCopyable {
    /// May be the same memory as ``output``, channel for channel.
    package var input: Channels
    /// The output.
    package var output: Channels
    /// The first frame, of input and output alike.
    package var offset: Int
    /// Frames to render.
    package var frameCount: Int

    /// A view of memory that the caller keeps.
    @inlinable @_noLocks
    package init(input: Channels, output: Channels, offset: Int, frameCount: Int) {
        self.input = input
        self.output = output
        self.offset = offset
        self.frameCount = frameCount
    }
}

/// The signal processing of a unit: plain state and three functions on it, without threads, queues or a graph.
///
/// Rules that make a unit sound the same however it is called:
/// - Samples depend on the order of calls to ``set(_:over:)`` and on the frames between them, never on the frame count of one
///   ``process(_:)``. The caller divides blocks so that each `set` falls on its frame.
/// - A kernel made anew with the same values is in the same state as any other so made, and ``reset()`` brings it back to it
///   (with the values that it has).
/// - All input is finite and at most some hundred in magnitude; silence in leads to silence out, at the end.
///
/// Made and freed on the control thread; the functions are for the one thread that renders.
protocol UnitKernel: ~Copyable, SendableMetatype {
    /// Name, parameters, presets.
    static var unit: UnitDescription { get }
    /// Parameters are undefined until the first ``set(_:over:)``, which has `frameCount` 0.
    /// - Parameters:
    ///   - sampleRate: hertz, 8,000 to 384,000.
    ///   - channelCount: 1 to 32, of the input and, as a rule, the output (see ``outputChannelCount(of:)``).
    init(sampleRate: Double, channelCount: Int)

    /// Moves every parameter on a straight line (or what comes to the same without a click) to a new value.
    /// - Parameters:
    ///   - values: one for each of the unit's parameters, in order, within their ranges.
    ///   - frameCount: frames of ``process(_:)`` until the new values are reached, ``UnitRamp/segment`` at most; 0 for
    ///     at once. A later call may come before they are over and starts from wherever things stand.
    @_noLocks mutating func set(_ values: UnsafePointer<Float>, over frameCount: Int)
    /// Renders `frameCount` frames; each output frame is written whole.
    @_noLocks mutating func process(_ block: UnitBlock)
    /// Forgets every sample heard; a ramp that is under way jumps to its end.
    @_noLocks mutating func reset()

    /// Channels that come out where so many go in: the same number, unless a kernel says otherwise.
    static func outputChannelCount(of inputChannelCount: Int) -> Int
    /// Frames by which output lags behind input. Constant.
    var latency: Int { get }
    /// Frames of silent input after which output that is silent too remains so: the unit's longest memory, not its reverberation.
    var memory: Int { get }
    /// The three functions above as plain pointers: `UnitFunctions(set: …, process: …, reset: …, latency…)`.
    static var functions: UnitFunctions { get }
}

extension UnitKernel where Self: ~Copyable {
    static func outputChannelCount(of inputChannelCount: Int) -> Int { inputChannelCount }
}

/// A kernel's functions as C function pointers, which the render thread may call where it may not call through a protocol.
/// Each closure is one line: it binds the memory to its kernel and calls the function of the same name.
@frozen
package struct UnitFunctions: Sendable {
    /// See `set(_:over:)`: the kernel's memory, values, frames.
    package typealias Set = @convention(c) (UnsafeMutableRawPointer, UnsafePointer<Float>, Int) -> Void
    /// See `process(_:)`: the kernel's memory, a ``UnitBlock``.
    package typealias Process = @convention(c) (UnsafeMutableRawPointer, UnsafeRawPointer) -> Void
    /// See `reset()`: the kernel's memory.
    package typealias Reset = @convention(c) (UnsafeMutableRawPointer) -> Void
    @usableFromInline let set: Set
    @usableFromInline let process: Process
    @usableFromInline let reset: Reset

    /// Functions that keep to the rules of the render thread.
    package init(set: @escaping Set, process: @escaping Process, reset: @escaping Reset) {
        self.set = set
        self.process = process
        self.reset = reset
    }
}

extension UnitFunctions {
    /// A call of `set`. Render-safe.
    @inlinable @_noLocks
    package func callSet(_ state: UnsafeMutableRawPointer, _ values: UnsafePointer<Float>, over frameCount: Int) {
        earshot_unit_set(set, state, values, frameCount)
    }

    /// A call of `process`. Render-safe.
    @inlinable @_noLocks
    package func callProcess(_ state: UnsafeMutableRawPointer, _ block: UnitBlock) {
        withUnsafePointer(to: block) { earshot_unit_process(process, state, UnsafeRawPointer($0)) }
    }

    /// A call of `reset`. Render-safe.
    @inlinable @_noLocks
    package func callReset(_ state: UnsafeMutableRawPointer) { earshot_unit_reset(reset, state) }
}
