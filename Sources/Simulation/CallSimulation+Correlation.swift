// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotDiagnostics

extension CallSimulation {
    /// Measures the delay from one peer's microphone converter to another peer's loudspeaker converter, by correlation of the
    /// sound in these seconds. The result verifies the exact figures of ``report``.
    package func mouthToEar(from: Int, to: Int, _ seconds: Range<Double>) throws -> DelayMeasurement {
        let spoken = peers[from].spoken(seconds)
        let heard = peers[to].heard(seconds.lowerBound..<(seconds.upperBound + 0.3))
        var options = DelayMeasurement.Options()
        options.searchRange = 0...1
        return try DelayMeasurement(
            sent: TimedSignal(
                samples: spoken.samples, sampleRate: peers[from].card.configuration.trueSampleRate,
                firstFrameTime: spoken.from),
            heard: TimedSignal(
                samples: heard.samples, sampleRate: peers[to].card.configuration.trueSampleRate,
                firstFrameTime: heard.from), options: options)
    }

    /// Measures the delay from this peer to the other one, in a call of two.
    package func mouthToEar(from: Int, _ seconds: Range<Double>) throws -> DelayMeasurement {
        try mouthToEar(from: from, to: 1 - from, seconds)
    }
}
