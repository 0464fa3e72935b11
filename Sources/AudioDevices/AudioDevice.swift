// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// A sound device: one full-duplex callback for capture and playback together.
///
/// All members are for the control thread, one thread at a time, unless documented otherwise.
public protocol AudioDevice: AnyObject, Sendable {
    /// The device's name, as shown to users.
    var name: String { get }
    /// The nominal sample rate in hertz, constant while the device lives. If the server changes its rate, the device fails. Any
    /// thread.
    var sampleRate: Double { get }
    /// The nominal frames of each callback. A callback may have fewer or, after a reconfiguration of the server, more. Any
    /// thread.
    var blockFrameCount: Int { get }
    /// The number of buffers in each cycle's `input`.
    var inputChannelCount: Int { get }
    /// The number of buffers in each cycle's `output`.
    var outputChannelCount: Int { get }
    /// The seconds from a sample's passage through the input converter to the start of the cycle that delivers the sample. Any
    /// thread.
    var inputLatency: Double { get }
    /// The seconds from the start of the cycle that renders a sample to the sample's passage through the output converter. Any
    /// thread.
    var outputLatency: Double { get }
    /// The type of the samples that the device exchanges with its driver or server; the output's if the directions differ.
    var sampleType: SampleType { get }
    /// The SCHED_FIFO priority of the thread that runs the callback; nil for normal scheduling, and on some systems before the
    /// start. A media thread that feeds the callback runs just below this priority.
    var realTimePriority: Int? { get }
    /// Records the callbacks' times, and the xruns.
    var monitor: CallbackMonitor { get }
    /// The reason that the device no longer works; nil while it works. Any thread, also while the device runs.
    var failure: AudioDeviceError? { get }

    /// Starts the callbacks, which run on the device's own thread.
    /// - Parameter callback: the function to call, whose context must stay valid until ``stop()`` has returned.
    func start(_ callback: RenderCallback) throws(AudioDeviceError)

    /// Stops the callbacks. When this method returns, no callback runs and none will come. Stopping twice does nothing. The
    /// device can be started again unless it has failed.
    func stop()
}

extension AudioDevice {
    /// The sample type of every cycle, for devices of sound servers, which convert samples themselves.
    public var sampleType: SampleType { .float32 }
}
