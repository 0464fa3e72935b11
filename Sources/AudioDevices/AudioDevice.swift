// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// A sound card as the engine sees it: one full-duplex callback, capture and playback together.
///
/// All members are for the control thread, one thread at a time, unless they say otherwise.
public protocol AudioDevice: AnyObject, Sendable {
    /// The name for the user.
    var name: String { get }
    /// Hertz, nominal. Fixed while the device lives; a device that changes it fails. Any thread.
    var sampleRate: Double { get }
    /// Frames that a call has nominally; a call may have fewer or, after the server was reconfigured, more. Any thread.
    var blockFrameCount: Int { get }
    /// Buffers in each cycle's `input`.
    var inputChannelCount: Int { get }
    /// Buffers in each cycle's `output`.
    var outputChannelCount: Int { get }
    /// Seconds from an input converter to the start of the cycle in which the sample is handed over. Any thread.
    var inputLatency: Double { get }
    /// Seconds from the start of the cycle in which a sample is rendered to the output converter. Any thread.
    var outputLatency: Double { get }
    /// The device's sample type; samples are converted at its edge, once. The output's if both directions differ.
    var sampleType: SampleType { get }
    /// The SCHED_FIFO priority of the thread that calls back, once started; nil if it is scheduled normally. A media
    /// thread that feeds the callback runs just under it.
    var realTimePriority: Int? { get }
    /// Each call's time, and what went wrong in time.
    var monitor: CallbackMonitor { get }
    /// The reason that the device stopped; nil while it works. Any thread, also while running.
    var failure: AudioDeviceError? { get }

    /// Begins to call back, on the device's own thread.
    /// - Parameter callback: its context must stay valid until ``stop()`` has returned.
    func start(_ callback: RenderCallback) throws(AudioDeviceError)

    /// Ends the calls: when it returns none is running and none will come. Harmless when already stopped. A device can be
    /// started again unless it has failed.
    func stop()
}

extension AudioDevice {
    /// The cycle's own type: sound servers convert themselves.
    public var sampleType: SampleType { .float32 }
}
