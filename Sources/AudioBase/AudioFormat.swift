// SPDX-License-Identifier: Apache-2.0

/// The shape of audio inside Earshot: 32-bit floating point, one buffer a channel (planar), at a sample rate.
///
/// Conversion to and from other sample types happens once, at the edge (a file, a codec, a device).
public struct AudioFormat: Hashable, Sendable {
    /// Frames a second, in hertz; 8,000 to 384,000.
    public let sampleRate: Double
    /// 1 to 32.
    public let channelCount: Int

    /// - Precondition: `sampleRate` is 8,000 to 384,000 and `channelCount` 1 to 32.
    public init(sampleRate: Double, channelCount: Int) {
        precondition(Self.sampleRates.contains(sampleRate), "sample rate \(sampleRate) Hz is outside 8 to 384 kHz")
        precondition(Self.channelCounts.contains(channelCount), "\(channelCount) channels are outside 1 to 32")
        self.sampleRate = sampleRate
        self.channelCount = channelCount
    }

    /// The rates a format can have, in hertz.
    public static let sampleRates: ClosedRange<Double> = 8_000...384_000
    /// The channel counts a format can have.
    public static let channelCounts: ClosedRange<Int> = 1...32
}
