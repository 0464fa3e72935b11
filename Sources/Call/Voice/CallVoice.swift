import AudioBase
import AudioDevices
import AudioEngine
import Synchronization
import VoiceProcessing

/// What one's own voice goes through before it is sent: voice processing, then effects.
///
/// For one ``CallSession``. Effects may be changed while the call runs; their parameters are the effects' own. Members are
/// for the control thread.
public final class CallVoice: @unchecked Sendable {  // the control thread's; what the render thread uses is in `path`
    /// How voice processing stands.
    public enum Processing: Hashable, Sendable {
        /// The microphone goes out as it is.
        case off
        /// It is on, or about to be.
        case on
        /// It cannot be had, or was left: the microphone goes out as it is.
        case left(VoiceProcessingError)
    }

    /// In the order in which sound passes them.
    public let effects: [AudioUnitEffect]
    /// The graph that the effects are in; it runs as long as this object lives.
    public let engine: AudioEngine?
    /// Seconds that the effects delay the voice by.
    public let effectsLatency: Double
    /// The longest block, in frames, that voice processing was made for.
    public let blockFrameCount: Int
    let worker: VoiceProcessingWorker?
    let path: VoicePath

    private let wishes: UnsafeMutablePointer<VoicePath.Wishes>
    private let kept: [AudioBuffer]
    private let problem: VoiceProcessingError?
    private let priority = Mutex<Int?>(nil)

    /// - Parameters:
    ///   - effects: fresh ones.
    ///   - canProcess: whether voice processing is to be had; it is off until ``setProcessing(_:)``. Where it cannot be
    ///     made, ``processing`` says why, and the voice goes out without it.
    ///   - options: what voice processing does.
    ///   - sampleRate: the device's, in hertz.
    ///   - channelCount: of the call.
    ///   - blockFrameCount: the longest that the device calls with, 1 to 4096.
    /// - Throws: what is wrong with an effect.
    public init(
        effects: [AudioUnitEffect], canProcess: Bool, options: VoiceProcessingOptions = VoiceProcessingOptions(),
        sampleRate: Double, channelCount: Int, blockFrameCount: Int
    ) throws(AudioEngineError) {
        self.effects = effects
        self.blockFrameCount = blockFrameCount
        var kept: [AudioBuffer] = []
        func buffer(_ channels: Int) -> Channels {
            let buffer = AudioBuffer(channelCount: channels, frameCapacity: IOCycle.maximumFrameCount)
            kept.append(buffer)
            return buffer.channels
        }
        var render: RenderCallback?
        if effects.isEmpty {
            engine = nil
            effectsLatency = 0
        } else {
            let engine = AudioEngine()
            try engine.connectInSeries(effects)
            render = try engine.startRealtimeRendering(
                format: AudioFormat(sampleRate: sampleRate, channelCount: channelCount), inputChannelCount: channelCount
            )
            effectsLatency = engine.paths.map(\.latency).max() ?? 0
            self.engine = engine
        }
        wishes = .allocate(capacity: 1)
        wishes.initialize(to: VoicePath.Wishes())
        var problem: VoiceProcessingError?
        var worker: VoiceProcessingWorker?
        if canProcess {
            do throws(VoiceProcessingError) {
                worker = try VoiceProcessingWorker(
                    sampleRate: sampleRate, maximumFrameCount: max(1, min(4_096, blockFrameCount)), options: options)
            } catch { problem = error }
        }
        self.problem = problem
        self.worker = worker
        let changed = render == nil ? nil : buffer(channelCount)
        if let worker {
            let processing = VoicePath.Processing(
                port: worker.port, wishes: wishes, microphone: buffer(1), reference: buffer(1), cleaned: buffer(1),
                latency: worker.latency, step: Float(1 / (0.02 * sampleRate)))
            path = VoicePath(processing: processing, effects: render, changed: changed)
        } else {
            path = VoicePath(processing: nil, effects: render, changed: changed)
        }
        self.kept = kept
    }

    deinit {
        worker?.stop()
        engine?.stop()
        wishes.deinitialize(count: 1)
        wishes.deallocate()
    }

    /// Turns voice processing on or off, by a crossfade of 20 ms; on it comes in after its own delay.
    public func setProcessing(_ isOn: Bool) { wishes.pointee.processes.store(isOn, ordering: .relaxed) }

    /// How voice processing stands. Any thread.
    public var processing: Processing {
        if let error = problem ?? worker?.error { return .left(error) }
        return worker != nil && wishes.pointee.processes.load(ordering: .relaxed) ? .on : .off
    }

    /// Seconds that voice processing delays the voice by while it is on; 0 where there is none.
    public var processingLatency: Double { (worker?.latencyMilliseconds ?? 0) / 1e3 }

    /// What voice processing knows; nil where there is none.
    public var statistics: VoiceStatistics? { worker?.statistics }

    /// Frames that came out of voice processing too late, and were silence.
    public var lateFrameCount: Int { worker?.counts.late ?? 0 }

    /// Starts voice processing's thread, just below the device's callback.
    func start(on device: any AudioDevice) {
        guard let worker else { return }
        let priority = device.realTimePriority
        self.priority.withLock { $0 = priority }
        do throws(VoiceProcessingError) {
            try worker.start(below: priority)
        } catch { worker.leave(error) }
    }

    /// Schedules the thread anew where the device's callback is scheduled otherwise than before.
    func follow(_ device: any AudioDevice) {
        guard let worker else { return }
        let now = device.realTimePriority
        let isNew = priority.withLock { priority in
            defer { priority = now }
            return priority != now
        }
        if isNew { worker.follow(now) }
    }

    /// Does what voice processing's thread would do now, where it does not run: on virtual time.
    package func runPending() { worker?.runPending() }

    /// After the device has stopped.
    func stop() { worker?.stop() }
}

extension AudioEngine {
    /// Puts effects between the input and another node, one after the other.
    /// - Parameters:
    ///   - destination: the main mixer unless said otherwise.
    ///   - format: of what the first of them gets; the input's unless said otherwise.
    public func connectInSeries(
        _ effects: [AudioUnitEffect], to destination: AudioNode? = nil, format: AudioFormat? = nil
    ) throws(AudioEngineError) {
        let (input, destination) = (inputNode, destination ?? mainMixerNode)
        try edit { edit throws(AudioEngineError) in
            var last: AudioNode = input
            for effect in effects {
                try edit.attach(effect)
                try edit.connect(last, to: effect, format: last === input ? format : nil)
                last = effect
            }
            try edit.connect(last, to: destination)
        }
    }
}
