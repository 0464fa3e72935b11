// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// A test signal that was played, and what was captured from its first frame on.
public struct ProbeCapture: Sendable {
    /// The played signal, on every output.
    package var probe: [Float]
    /// The device's frame counter at the first frame played.
    package var probeSampleTime: Int64
    /// The captured signal, without a hole: one array an input channel.
    package var captured: [[Float]]
    /// The device's frame counter at the first frame captured.
    package var capturedSampleTime: Int64
    /// Hertz, 8,000 to 384,000.
    package let sampleRate: Double

    /// Frames played and captured, on one device.
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
