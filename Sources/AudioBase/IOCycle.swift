// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime

/// One call of a device's callback: a captured block, the memory for a rendered block, and the blocks' times at the converters.
///
/// A cycle exists only during the call, on the device's thread.
@frozen
public struct IOCycle: BitwiseCopyable {
    /// The frames of this call, the same for input and output; may differ from call to call.
    public var frameCount: Int
    /// The device's frame counter at the first frame of this call. It includes frames that the device skipped (an xrun).
    public var sampleTime: Int64
    /// The due time of this call, smoothed by a delay-locked loop: the nominal start of the cycle.
    public var hostTime: HostTime
    /// The seconds from ``hostTime`` to the time from which the loop learned of this call; negative if it was early.
    package var lateness = 0.0
    /// The seconds from a sample's time at the input converter to the start of the cycle that delivers the sample.
    public var inputLatency: Double
    /// The seconds from the start of the cycle that renders a sample to the sample's time at the output converter.
    public var outputLatency: Double
    /// The maximum frames that a callback must handle (JACK's limit); frames beyond it may be silent.
    @inlinable
    public static var maximumFrameCount: Int { @_noLocks get { 8_192 } }
    /// The captured block; without an input it has 0 channels.
    public var input: Channels
    /// The memory to render into; silenced by the device before the call.
    public var output: Channels

    /// Creates a cycle. For devices, before each call.
    @inlinable @_noLocks
    public init(
        frameCount: Int, sampleTime: Int64, hostTime: HostTime, inputLatency: Double, outputLatency: Double,
        input: Channels, output: Channels
    ) {
        self.frameCount = frameCount
        self.sampleTime = sampleTime
        self.hostTime = hostTime
        self.inputLatency = inputLatency
        self.outputLatency = outputLatency
        self.input = input
        self.output = output
    }
}

/// A render callback: a C function and its memory.
///
/// The callback is a pair of pointers, not a closure, so that a call neither retains nor allocates, and is allowed in a
/// `@_noLocks` function. The C function must follow the rules of the render thread: never wait, allocate, free, log or throw.
public struct RenderCallback: @unchecked Sendable {  // the owner keeps the context alive while the device runs
    /// Receives the context and an ``IOCycle``.
    public typealias Function = @convention(c) (UnsafeMutableRawPointer?, UnsafeRawPointer?) -> Void
    private let function: Function
    private let context: UnsafeMutableRawPointer?

    /// - Parameters:
    ///   - context: must stay valid until the device with the callback has stopped.
    public init(context: UnsafeMutableRawPointer?, function: @escaping Function) {
        self.function = function
        self.context = context
    }

    /// Calls the function. In its builds RealtimeSanitizer checks the call.
    @_noLocks
    public func callAsFunction(_ cycle: inout IOCycle) {
        withUnsafePointer(to: &cycle) { earshot_render(function, context, UnsafeRawPointer($0)) }
    }
}
