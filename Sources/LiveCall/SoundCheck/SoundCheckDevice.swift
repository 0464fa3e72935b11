// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioEngine
import EarshotAudioQueues
import Foundation

/// The sound of a check: captures the microphone of a call's device, and plays samples on it. For one thread.
final class SoundCheckDevice {
    private let calls: CallDeviceSession
    private let playbackEngine = AudioEngine()
    /// The engine on the microphone: ``playbackEngine``, unless the microphone is a separate device.
    private let captureEngine: AudioEngine
    private let player: AudioOutputQueue
    private let recorder: AudioInputQueue
    private let exchange = Exchange()

    /// The values that the queues' threads pass on.
    private final class Exchange: Sendable {
        let captured = LockedValue<[Float]>([])
        let playedBuffers = LockedValue<[AudioQueueBuffer]>([])
    }

    /// Seconds of a buffer for capture: the delay of the level meter.
    private static let captureBufferDuration = 0.025
    /// The buffers hold the sound of 0.4 s, for which the threads of both queues may be late.
    private static let captureBufferCount = 16
    /// Seconds of a buffer for playback. A queue has at most 64 buffers: two recordings.
    private static let playbackBufferDuration = 0.1

    init(_ calls: CallDeviceSession) throws(AudioQueueError) {
        self.calls = calls
        captureEngine = calls.input == nil ? playbackEngine : AudioEngine()
        let exchange = exchange
        let device = calls.device
        let output = AudioFormat(
            sampleRate: device.sampleRate, channelCount: max(1, min(2, device.outputChannelCount)))
        player = try AudioOutputQueue(.linearPCM(output), on: playbackEngine, name: "sound check") { _, buffer in
            exchange.playedBuffers.withLock { $0.append(buffer) }
        }
        let input = AudioFormat(sampleRate: device.sampleRate, channelCount: 1)
        recorder = try AudioInputQueue(.linearPCM(input), on: captureEngine, name: "microphone") { queue, buffer in
            let samples = Array(UnsafeBufferPointer(start: buffer.samples[0], count: buffer.frameCount))
            exchange.captured.withLock { $0 += samples }
            try? queue.enqueue(buffer)  // fails only for a buffer that is enqueued already
        }
        for _ in 0..<Self.captureBufferCount {
            try recorder.enqueue(try recorder.allocateBuffer(duration: Self.captureBufferDuration))
        }
    }

    /// The rate of the captured and the played samples in hertz.
    var sampleRate: Double { calls.device.sampleRate }

    /// Starts the device. After an error nothing runs.
    func start() throws(AudioQueueError) {
        try recorder.start()
        try player.start()
        do throws(AudioEngineError) {
            try playbackEngine.start(on: calls.device)
            if let input = calls.input { try captureEngine.start(on: input.device) }
        } catch {
            stop()
            throw .engine(error)
        }
    }

    /// Fades out and stops the device, which can then be started for the call.
    func stop() {
        player.stop()
        // The player fades out meanwhile.
        if playbackEngine.isRunning { Thread.sleep(forTimeInterval: min(0.2, 0.03 + calls.device.outputLatency)) }
        playbackEngine.stop()
        captureEngine.stop()
        recorder.stop()
    }

    /// Returns the samples captured since the last call.
    func takeCapturedSamples() -> [Float] {
        exchange.captured.withLock { samples in
            defer { samples = [] }
            return samples
        }
    }

    /// Plays samples on all channels, after those that are still playing. Samples beyond the queue's buffers are left out.
    func play(_ samples: [Float]) {
        var start = 0
        while start < samples.count, let buffer = takePlaybackBuffer() {
            let count = min(buffer.frameCapacity, samples.count - start)
            for c in 0..<buffer.samples.count {
                for i in 0..<count { buffer.samples[c][i] = samples[start + i] }
            }
            buffer.frameCount = count
            guard (try? player.enqueue(buffer)) != nil else { return }
            start += count
        }
    }

    /// Fades out what is playing within 10 ms. The next samples play at once.
    func stopPlaying() { player.reset() }

    private func takePlaybackBuffer() -> AudioQueueBuffer? {
        exchange.playedBuffers.withLock { $0.popLast() }
            ?? (try? player.allocateBuffer(duration: Self.playbackBufferDuration))
    }
}
