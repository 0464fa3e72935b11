import AudioBase

/// A sound card of two periods, without a thread or clock of its own: whoever drives it says what time it is.
///
/// With T0 its start, R its true rate and n its block, sample k enters the input converter at T0 + k/R. The q-th call
/// (q from 1) is due at T0 + q·n/R, when the last of its n samples is in, and what it renders leaves the output converter
/// from T0 + (q+1)·n/R on; so input to output through a callback that copies is exactly two blocks.
///
/// A call that has not ended when the next is due is an xrun: its playback period is silence. Periods whose whole time has
/// passed are skipped: their input is discarded, silence goes to the sink, and `sampleTime` jumps, so that frame k of the
/// source and frame k of the sink keep their times whatever happens.
///
/// The object owns the memory; ``renderer`` does the work.
public final class SimulatedCard: Sendable {
    /// What the card is like.
    public let configuration: Configuration
    /// Each call's time, and the xruns.
    public let monitor: CallbackMonitor
    /// For the one thread that drives the card; must not outlive it.
    public let renderer: Renderer

    private let inputBuffer: AudioBuffer
    private let outputBuffer: AudioBuffer
    private let silence: AudioBuffer

    /// - Throws: ``AudioDeviceError/unsupportedFormat(detail:)`` where the configuration is out of range.
    public init(_ configuration: Configuration) throws(AudioDeviceError) {
        try configuration.validate()
        let frames = configuration.blockFrameCount
        self.configuration = configuration
        monitor = CallbackMonitor(sampleRate: configuration.sampleRate)
        inputBuffer = AudioBuffer(channelCount: max(1, configuration.inputChannelCount), frameCapacity: frames)
        outputBuffer = AudioBuffer(channelCount: max(1, configuration.outputChannelCount), frameCapacity: frames)
        silence = AudioBuffer(channelCount: max(1, configuration.outputChannelCount), frameCapacity: frames)
        renderer = Renderer(
            State(
                configuration: configuration, recorder: monitor.recorder(sampleRate: configuration.sampleRate),
                input: Channels(inputBuffer.channels.pointers, count: configuration.inputChannelCount),
                output: Channels(outputBuffer.channels.pointers, count: configuration.outputChannelCount),
                silence: Channels(silence.channels.pointers, count: configuration.outputChannelCount)))
    }

    deinit { renderer.deallocate() }

    /// Frames of silence that stood in for a source that had nothing to read. Any thread.
    public var starvedFrameCount: Int { renderer.state.pointee.starved.load(ordering: .relaxed) }

    /// When the first frame of the source entered the input converter, since the card was last started; nil before.
    /// Any thread.
    public var firstInputFrameTime: HostTime? { startTime }

    /// When the first frame written to the sink leaves the output converter, since the card was last started; nil before.
    /// Any thread.
    public var firstOutputFrameTime: HostTime? {
        startTime?.advanced(bySeconds: 2 * Double(configuration.blockFrameCount) / configuration.trueSampleRate)
    }

    private var startTime: HostTime? {
        let nanoseconds = renderer.state.pointee.startTime.load(ordering: .acquiring)
        return nanoseconds == .min ? nil : HostTime(nanoseconds: nanoseconds)
    }
}
