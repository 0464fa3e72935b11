// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// A test signal that was played, and the sound captured since its first frame.
public struct ProbeCapture: Sendable {
    /// The test signal, as played on all outputs.
    package var probe: [Float]
    /// The device's frame counter at the first played frame.
    package var probeSampleTime: Int64
    /// The captured sound without gaps, one array per input channel.
    package var captured: [[Float]]
    /// The device's frame counter at the first captured frame.
    package var capturedSampleTime: Int64
    /// The sample rate in hertz, 8,000 to 384,000.
    package let sampleRate: Double

    /// Creates a capture of sound that one device played and captured.
    package init(
        probe: [Float], probeSampleTime: Int64, captured: [[Float]], capturedSampleTime: Int64, sampleRate: Double
    ) {
        precondition(AudioFormat.sampleRates.contains(sampleRate))
        self.probe = probe
        self.probeSampleTime = probeSampleTime
        self.captured = captured
        self.capturedSampleTime = capturedSampleTime
        self.sampleRate = sampleRate
    }
}
