// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// A sound card of two periods, without a thread or clock: its driver passes the time.
///
/// With T0 its start, R its true rate and n its block, sample k enters the input converter at T0 + k/R. The q-th call
/// (q from 1) is due at T0 + q·n/R, when the last of its n samples is in, and what it renders leaves the output converter
/// from T0 + (q+1)·n/R on; so input to output through a callback that copies is exactly two blocks. Where blocks vary it
/// is two of the longest.
///
/// A call that has not ended when the next is due is an xrun: its playback period is silence. Periods whose whole time has
/// passed are skipped: their input is discarded, silence goes to the sink, and `sampleTime` jumps, so that frame k of the
/// source and frame k of the sink keep their times whatever happens.
///
/// The object owns the memory; ``renderer`` does the work.
public final class SimulatedCard: Sendable {
    /// The properties of the card.
    public let configuration: Configuration
    /// Each call's time, and the xruns.
    public let monitor: CallbackMonitor
    /// For the one thread that drives the card; must not outlive it.
    package let renderer: Renderer

    private let wiring: Wiring

    /// - Parameter monitor: gets the records of its calls; nil for a new one.
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

    /// Frames of silence that stood in for a source that had nothing to read. Any thread.
    package var starvedFrameCount: Int { renderer.state.pointee.starved.load(ordering: .relaxed) }

    /// When the first frame of the source entered the input converter, since the card was last started; nil before.
    /// Any thread.
    public var firstInputFrameTime: HostTime? { time(ofFrame: 0) }

    /// When the first frame written to the sink leaves the output converter, since the card was last started; nil before.
    /// Any thread.
    public var firstOutputFrameTime: HostTime? { time(ofFrame: Int64(2 * configuration.longestBlock)) }

    /// When a frame of the card's counter passes the input converter, since the card was last started; nil before. What is
    /// rendered for it leaves the output converter two of the longest blocks later. Any thread.
    package func time(ofFrame frame: Int64) -> HostTime? {
        let start = renderer.state.pointee.startTime.load(ordering: .acquiring)
        return start == .min ? nil : renderer.time(ofFrame: frame)
    }
}
