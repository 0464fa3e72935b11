// SPDX-License-Identifier: Apache-2.0

/// The format of audio inside Earshot: 32-bit floating point, one buffer for each channel (planar), at a sample rate.
///
/// Other sample types are converted once, at a file, a codec or a device.
public struct AudioFormat: Hashable, Sendable {
    /// The sample rate in hertz; 8,000 to 384,000.
    public let sampleRate: Double
    /// The channel count, 1 to 32.
    public let channelCount: Int

    /// - Precondition: `sampleRate` is 8,000 to 384,000 and `channelCount` 1 to 32.
    public init(sampleRate: Double, channelCount: Int) {
        precondition(Self.sampleRates.contains(sampleRate), "sample rate \(sampleRate) Hz is outside 8 to 384 kHz")
        precondition(Self.channelCounts.contains(channelCount), "\(channelCount) channels are outside 1 to 32")
        self.sampleRate = sampleRate
        self.channelCount = channelCount
    }

    /// The allowed sample rates in hertz.
    public static let sampleRates: ClosedRange<Double> = 8_000...384_000
    /// The allowed channel counts.
    public static let channelCounts: ClosedRange<Int> = 1...32
}
