// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP
import EarshotDiagnostics
import Synchronization

/// Takes sound out of the monitor's graph on the render thread: measures it, and writes it to a ring for a file.
///
/// Frames that the device skipped are skipped in the ring, and so are silence in the file.
final class MonitorTape: @unchecked Sendable {  // `state` is the render thread's
    /// The peak, which decays slowly.
    let peak = LatestValue<Float>(0)
    let ring: AudioRing?
    private let state: UnsafeMutablePointer<State>
    private let howls = Atomic(0)

    private struct State {
        let writer: AudioRing.Writer?
        let peaks: LatestValue<Float>.Writer
        let sampleRate: Float
        var expected: Int64 = .min
        var held: Float = 0
        var howl = FeedbackDetector(windowCount: 6, minimum: 0.25)
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

    /// Writes a block, on the render thread.
    func take(_ sampleTime: Int64, _ frameCount: Int, _ samples: ReadOnlyChannels) {
        let level = Level(of: samples, frameCount: frameCount)
        let rate = state.pointee.sampleRate
        state.pointee.held = max(level.peak, state.pointee.held * max(0, 1 - 2.3 * Float(frameCount) / rate))
        state.pointee.peaks.store(state.pointee.held)
        if state.pointee.howl.follow(peak: level.peak, frameCount: frameCount, windowLength: Int(rate) / 50) {
            howls.wrappingAdd(1, ordering: .relaxed)
        }
        if let writer = state.pointee.writer {
            let expected = state.pointee.expected
            if expected != .min, sampleTime > expected { writer.skip(Int(sampleTime - expected)) }
            writer.write(samples, frameCount: frameCount)
        }
        state.pointee.expected = sampleTime + Int64(frameCount)
    }
}
