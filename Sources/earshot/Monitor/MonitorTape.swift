// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP
import EarshotDiagnostics
import Synchronization

/// Takes sound out of the monitor's graph on the render thread: measures it, and writes it to a ring for a file.
///
/// Frames that the device skipped are skipped in the ring, and so are silence in the file.
final class MonitorTape: @unchecked Sendable {  // only the render thread uses `state`
    /// The peak of the sound, which decays slowly; 1 is full scale.
    let peak = LatestValue<Float>(0)
    let ring: AudioRing?
    private let state: UnsafeMutablePointer<State>
    private let howls = Atomic(0)

    private struct State {
        let writer: AudioRing.Writer?
        let peaks: LatestValue<Float>.Writer
        let sampleRate: Float
        var expectedSampleTime: Int64 = .min
        var heldPeak: Float = 0
        var feedbackDetector = FeedbackDetector(windowCount: 6, minimum: 0.25)
    }

    init(sampleRate: Double, ring: AudioRing? = nil) {
        self.ring = ring
        state = .allocate(capacity: 1)
        state.initialize(
            to: State(writer: ring?.writer, peaks: peak.writer, sampleRate: Float(sampleRate)))
    }

    deinit {
        state.deinitialize(count: 1)
        state.deallocate()
    }

    /// The number of howls.
    var howlCount: Int { howls.load(ordering: .relaxed) }

    /// Measures a block and writes it to the ring, on the render thread.
    func take(_ sampleTime: Int64, _ frameCount: Int, _ samples: ReadOnlyChannels) {
        let level = Level(of: samples, frameCount: frameCount)
        let rate = state.pointee.sampleRate
        state.pointee.heldPeak = max(level.peak, state.pointee.heldPeak * max(0, 1 - 2.3 * Float(frameCount) / rate))
        state.pointee.peaks.store(state.pointee.heldPeak)
        if state.pointee.feedbackDetector.follow(peak: level.peak, frameCount: frameCount, windowLength: Int(rate) / 50)
        {
            howls.wrappingAdd(1, ordering: .relaxed)
        }
        if let writer = state.pointee.writer {
            let expectedSampleTime = state.pointee.expectedSampleTime
            if expectedSampleTime != .min, sampleTime > expectedSampleTime {
                writer.skip(Int(sampleTime - expectedSampleTime))
            }
            writer.write(samples, frameCount: frameCount)
        }
        state.pointee.expectedSampleTime = sampleTime + Int64(frameCount)
    }
}
