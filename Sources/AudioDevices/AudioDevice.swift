// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// A sound device: one full-duplex callback for capture and playback together.
///
/// All members are for the control thread, one thread at a time, unless documented otherwise.
public protocol AudioDevice: AnyObject, Sendable {
    /// The name for the user.
    var name: String { get }
    /// The nominal sample rate in hertz. Constant while the device lives; if it changes, the device fails. Any thread.
    var sampleRate: Double { get }
    /// The nominal frames of a call. A call may have fewer or, after a reconfiguration of the server, more. Any thread.
    var blockFrameCount: Int { get }
    /// The number of buffers in each cycle's `input`.
    var inputChannelCount: Int { get }
    /// The number of buffers in each cycle's `output`.
    var outputChannelCount: Int { get }
    /// The seconds from an input converter to the start of the cycle with the sample. Any thread.
    var inputLatency: Double { get }
    /// The seconds from the start of the cycle that renders a sample to the output converter. Any thread.
    var outputLatency: Double { get }
    /// The device's sample type, to which samples are converted once. The output's if the directions differ.
    var sampleType: SampleType { get }
    /// The SCHED_FIFO priority of the callback's thread once started; nil for normal scheduling. A media thread that feeds the
    /// callback runs just below it.
    var realTimePriority: Int? { get }
    /// Records the times of calls, and xruns.
    var monitor: CallbackMonitor { get }
    /// The reason that the device stopped; nil while it works. Any thread, also while running.
    var failure: AudioDeviceError? { get }

    /// Starts calling, on the device's own thread.
    /// - Parameter callback: its context must stay valid until ``stop()`` has returned.
    func start(_ callback: RenderCallback) throws(AudioDeviceError)

    /// Stops calling: when it returns no call is running and none will come. A second call does nothing. A device can be started
    /// again unless it has failed.
    func stop()
}

extension AudioDevice {
    /// The cycle's own type, because sound servers convert.
    public var sampleType: SampleType { .float32 }
}
