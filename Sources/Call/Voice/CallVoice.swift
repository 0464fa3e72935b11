// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDevices
import EarshotVoiceProcessing
import Synchronization

/// The voice processing of the local voice before its effects.
///
/// For one ``CallSession``. Members are for the control thread.
public final class CallVoice: @unchecked Sendable {  // for the control thread; the render thread has handles only
    /// The state of voice processing.
    public enum Processing: Hashable, Sendable {
        /// The microphone is sent unprocessed.
        case off
        /// Voice processing is on or starting.
        case on
        /// Voice processing could not be created, or has ended with an error: the microphone is sent unprocessed.
        case left(VoiceProcessingError)
    }

    /// The maximum frames of a block for which voice processing was created.
    package let blockFrameCount: Int
    /// True if voice processing was to be prepared. If that failed, ``processing`` has the error.
    public let canProcess: Bool
    let worker: VoiceProcessingWorker?
    /// Voice processing, for the render thread; nil for none.
    var processingPort: VoiceProcessingPort? { worker?.port }

    private let creationError: VoiceProcessingError?
    private let priority = Mutex<Int?>(nil)

    /// - Parameters:
    ///   - canProcess: true to prepare voice processing, which is off until ``setProcessing(_:)``. If it cannot be
    ///     created, ``processing`` has the error and the voice is sent unprocessed.
    ///   - options: the parts of voice processing.
    ///   - sampleRate: the device's rate in hertz.
    ///   - blockFrameCount: the maximum frames of a device's block, 1 to 4096.
    package init(
        canProcess: Bool, options: VoiceProcessingOptions = VoiceProcessingOptions(),
        sampleRate: Double, blockFrameCount: Int
    ) {
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
        creationError = problem
        self.worker = worker
    }

    deinit { worker?.stop() }

    /// Turns voice processing on or off, by a crossfade of 20 ms; turning it on takes effect after its delay.
    public func setProcessing(_ isOn: Bool) { worker?.isOn = isOn }

    /// The state of voice processing. Any thread.
    public var processing: Processing {
        if let error = creationError ?? worker?.error { return .left(error) }
        return worker?.isOn == true ? .on : .off
    }

    /// The delay of voice processing in seconds while it is on; 0 without voice processing.
    package var processingLatency: Double { (worker?.latencyMilliseconds ?? 0) / 1e3 }

    /// The statistics of voice processing; nil if there is none.
    public var statistics: VoiceStatistics? { worker?.statistics }

    /// The frames that voice processing returned too late; silence is sent instead.
    public var lateFrameCount: Int { worker?.counts.late ?? 0 }

    /// Starts the thread of voice processing, just below the device's callback.
    func start(on device: any AudioDevice) {
        guard let worker else { return }
        let priority = device.realTimePriority
        self.priority.withLock { $0 = priority }
        do throws(VoiceProcessingError) {
            try worker.start(below: priority)
        } catch { worker.leave(error) }
    }

    /// Schedules the thread again if the scheduling of the device's callback has changed.
    func follow(_ device: any AudioDevice) {
        guard let worker else { return }
        let now = device.realTimePriority
        let isNew = priority.withLock { priority in
            defer { priority = now }
            return priority != now
        }
        if isNew { worker.follow(now) }
    }

    /// Does the pending work of the voice processing thread on the caller's thread, for a call on virtual time.
    package func runPending() { worker?.runPending() }

    /// Stops the thread of voice processing. Call this after the device has stopped.
    func stop() { worker?.stop() }
}
