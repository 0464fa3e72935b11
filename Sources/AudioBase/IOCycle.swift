// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime

/// One call of a device: a captured block, room for a rendered one, and the times at which they meet the air.
///
/// Lives for the duration of the call, on the device's thread.
@frozen
public struct IOCycle: BitwiseCopyable {
    /// Frames in this call, of capture and of playback alike; may differ from call to call.
    public var frameCount: Int
    /// The device's frame counter at the first frame of this call. It jumps by what the device skipped (an xrun).
    public var sampleTime: Int64
    /// When this call was due, on the machine's clock, smoothed by a delay-locked loop: the nominal start of the cycle.
    public var hostTime: HostTime
    /// Seconds from an input converter to the start of the cycle in which its sample is handed over.
    public var inputLatency: Double
    /// Seconds from the start of the cycle in which a sample is rendered to the output converter.
    public var outputLatency: Double
    /// Frames a call has at most, which is what JACK allows; of a longer one the rest is silence.
    @inlinable
    public static var maximumFrameCount: Int { @_noLocks get { 8_192 } }
    /// The captured block; `count` is 0 if the device has no input.
    public var input: Channels
    /// The memory to render into; zeroed by the device before the call.
    public var output: Channels

    /// For devices, each time before they call.
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

/// A render callback: a C function and the memory it works on.
///
/// A pair of pointers, not a closure: calling it neither retains nor allocates, and a `@_noLocks` function may do so.
/// The function must keep to the rules of the render thread: never wait, allocate, free, log or throw.
public struct RenderCallback: @unchecked Sendable {  // the owner keeps the context alive while the device runs
    /// Takes the context and an ``IOCycle``.
    public typealias Function = @convention(c) (UnsafeMutableRawPointer?, UnsafeRawPointer?) -> Void
    private let function: Function
    private let context: UnsafeMutableRawPointer?

    /// - Parameters:
    ///   - context: must stay valid until the device that was given the callback has stopped.
    public init(context: UnsafeMutableRawPointer?, function: @escaping Function) {
        self.function = function
        self.context = context
    }

    /// Runs the callback, checked by RealtimeSanitizer in builds with it.
    @_noLocks
    public func callAsFunction(_ cycle: inout IOCycle) {
        withUnsafePointer(to: &cycle) { earshot_render(function, context, UnsafeRawPointer($0)) }
    }
}
