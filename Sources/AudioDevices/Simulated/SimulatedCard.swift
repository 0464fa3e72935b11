// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// A simulated sound card of two periods, without a thread or clock: its driver passes the time.
///
/// With T0 its start, R its true rate and n its block, sample k enters the input converter at T0 + k/R. The q-th callback (q from
/// 1) is due at T0 + q·n/R, when the last of its n samples has been captured, and its output leaves the output converter from T0
/// + (q+1)·n/R on. So the delay from input to output through a copying callback is exactly two blocks, or two of the longest
/// blocks if they vary.
///
/// A callback that has not ended when the next is due is an xrun: its playback period is silence. Periods that have passed
/// completely are skipped: their input is discarded, silence goes to the sink, and `sampleTime` jumps, so that frame k of the
/// source and frame k of the sink always keep their times.
///
/// The object owns the memory; ``renderer`` does the work.
public final class SimulatedCard: Sendable {
    /// The properties of the card.
    public let configuration: Configuration
    /// Records the callbacks' times, and the xruns.
    public let monitor: CallbackMonitor
    /// The handle for the thread that drives the card; must not outlive the card.
    package let renderer: Renderer

    private let wiring: Wiring

    /// - Parameter monitor: records the callbacks; nil for a new monitor.
    /// - Throws: ``AudioDeviceError/unsupportedFormat(detail:)`` if the configuration is out of range.
    public init(_ configuration: Configuration, monitor: CallbackMonitor? = nil) throws(AudioDeviceError) {
        try configuration.validate()
        self.configuration = configuration
        self.monitor = monitor ?? CallbackMonitor(sampleRate: configuration.sampleRate)
        wiring = Wiring(configuration)
        renderer = Renderer(
            State(
                configuration: configuration, recorder: self.monitor.recorder(sampleRate: configuration.sampleRate),
                wiring: wiring.view))
    }

    deinit { renderer.deallocate() }

    /// The frames of silence that replaced an empty source. Any thread.
    package var starvedFrameCount: Int { renderer.state.pointee.starved.load(ordering: .relaxed) }

    /// The time at which the first frame since the last start passes the input converter; nil before the first start. Any thread.
    public var firstInputFrameTime: HostTime? { time(ofFrame: 0) }

    /// The time at which the first frame played since the last start leaves the output converter; nil before the first start. Any
    /// thread.
    public var firstOutputFrameTime: HostTime? { time(ofFrame: Int64(2 * configuration.longestBlock)) }

    /// Returns the time at which a frame of the card's counter since the last start passes the input converter; nil before the
    /// first start. The output frame of the same number leaves the output converter two of the longest blocks later. Any thread.
    package func time(ofFrame frame: Int64) -> HostTime? {
        let start = renderer.state.pointee.startTime.load(ordering: .acquiring)
        return start == .min ? nil : renderer.time(ofFrame: frame)
    }
}
