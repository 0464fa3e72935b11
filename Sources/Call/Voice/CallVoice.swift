// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDevices
import EarshotVoiceProcessing
import Synchronization

/// The processing of the local voice before it is sent: voice processing, then effects.
///
/// For one ``CallSession``. Members are for the control thread.
public final class CallVoice: @unchecked Sendable {  // the control thread's; what the render thread uses is in `path`
    /// The state of voice processing.
    public enum Processing: Hashable, Sendable {
        /// The microphone goes out as it is.
        case off
        /// Voice processing is on or starting.
        case on
        /// Voice processing failed or was left: the microphone is sent unprocessed.
        case left(VoiceProcessingError)
    }

    /// Effects behind voice processing; nil if there are none.
    package let effects: CallEffects?
    /// The longest block, in frames, that voice processing was made for.
    package let blockFrameCount: Int
    /// Returns true if the call was made with voice processing, on or off.
    public let canProcess: Bool
    let worker: VoiceProcessingWorker?
    let path: VoicePath

    private let effectBuffer: AudioBuffer?
    private let problem: VoiceProcessingError?
    private let priority = Mutex<Int?>(nil)

    /// - Parameters:
    ///   - effects: effects behind voice processing.
    ///   - canProcess: whether voice processing is to be had; it is off until ``setProcessing(_:)``. Where it cannot be
    ///     made, ``processing`` says why, and the voice goes out without it.
    ///   - options: what voice processing does.
    ///   - sampleRate: the device's rate in hertz.
    ///   - channelCount: channels of the call.
    ///   - blockFrameCount: frames of the device's longest block, 1 to 4096.
    package init(
        effects: CallEffects? = nil, canProcess: Bool, options: VoiceProcessingOptions = VoiceProcessingOptions(),
        sampleRate: Double, channelCount: Int, blockFrameCount: Int
    ) {
        self.effects = effects
        self.canProcess = canProcess
        self.blockFrameCount = blockFrameCount
        var problem: VoiceProcessingError?
        var worker: VoiceProcessingWorker?
        if canProcess {
            do throws(VoiceProcessingError) {
                worker = try VoiceProcessingWorker(
                    sampleRate: sampleRate, maximumFrameCount: max(1, min(4_096, blockFrameCount)), options: options,
                    isOn: false)
            } catch { problem = error }
        }
        self.problem = problem
        self.worker = worker
        effectBuffer =
            effects == nil
            ? nil : AudioBuffer(channelCount: channelCount, frameCapacity: IOCycle.maximumFrameCount)
        path = VoicePath(
            processing: worker?.port, effects: effects?.callback, effectOutput: effectBuffer?.channels)
    }

    deinit { worker?.stop() }

    /// Turns voice processing on or off, by a crossfade of 20 ms; on it comes in after its own delay.
    public func setProcessing(_ isOn: Bool) { worker?.isOn = isOn }

    /// The state of voice processing. Any thread.
    public var processing: Processing {
        if let error = problem ?? worker?.error { return .left(error) }
        return worker?.isOn == true ? .on : .off
    }

    /// Seconds that voice processing delays the voice by while it is on; 0 if there is none.
    package var processingLatency: Double { (worker?.latencyMilliseconds ?? 0) / 1e3 }

    /// The statistics of voice processing; nil if there is none.
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

    /// Schedules the thread anew if the device's callback is scheduled otherwise than before.
    func follow(_ device: any AudioDevice) {
        guard let worker else { return }
        let now = device.realTimePriority
        let isNew = priority.withLock { priority in
            defer { priority = now }
            return priority != now
        }
        if isNew { worker.follow(now) }
    }

    /// Does the work of voice processing's thread on virtual time, where that thread does not run.
    package func runPending() { worker?.runPending() }

    /// After the device has stopped.
    func stop() { worker?.stop() }
}
