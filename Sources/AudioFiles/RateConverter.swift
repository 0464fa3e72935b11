// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP

/// Converts the sample rate of a stream by a fixed ratio, without delay: output frame n is the input at position n · from / to.
///
/// Wraps a `Resampler` for pieces of any size. At equal rates samples are unchanged. For one thread at a time; allocates only at
/// initialization.
package final class RateConverter {
    /// The channel count.
    package let channelCount: Int
    private var resampler: Resampler?  // nil where the rates are equal
    private let inputPiece: Int  // frames that fit into the resampler at once
    private static let outputPiece = 1024

    /// - Parameters:
    ///   - from: the input rate in hertz.
    ///   - to: the output rate in hertz.
    ///   - channelCount: 1 to 32.
    ///   - quality: the bandwidth and the aliasing; the best by default.
    package init(from: Double, to: Double, channelCount: Int, quality: Resampler.Quality = .transparent) {
        precondition(AudioFormat.sampleRates.contains(from) && AudioFormat.sampleRates.contains(to))
        self.channelCount = channelCount
        resampler =
            from == to
            ? nil
            : Resampler(
                from: from, to: to, channelCount: channelCount, quality: quality, maximumFrameCount: Self.outputPiece)
        inputPiece = max(1, Int(Double(Self.outputPiece) * from / to))
    }

    /// Returns the number of frames at another rate, rounded, so that a conversion to a higher rate and back keeps the number; at
    /// least 1 unless `count` is 0.
    package static func frameCount(_ count: Int, from: Double, to: Double) -> Int {
        let frames = (Double(count) * to / from).rounded()
        return frames < 9e18 ? max(min(count, 1), Int(frames)) : Int.max
    }

    /// Returns the input frame at which a conversion may start so that its output from `frame` on equals that of the whole input.
    /// The start is a common instant of both rates, early enough for the filter to fill.
    package static func start(for frame: Int, from: Double, to: Double) -> Int {
        guard from != to else { return frame }
        let filled = 200 * max(1, from / to)
        let period = Double(self.period(from: from, to: to))
        return Int(max(0, ((Double(frame) * from / to - filled) / period).rounded(.down)) * period)
    }

    /// Returns the number of input frames between two common instants of both rates.
    package static func period(from: Double, to: Double) -> Int {
        func greatestCommonDivisor(_ a: Int, _ b: Int) -> Int { b == 0 ? max(1, a) : greatestCommonDivisor(b, a % b) }
        return from == to ? 1 : Int(from) / greatestCommonDivisor(Int(from), Int(to))
    }

    /// Converts until the input is consumed or the output is full.
    /// - Parameters:
    ///   - input: `frameCount` frames from `inputOffset` on.
    ///   - output: room for `frameCapacity` frames from `outputOffset` on.
    /// - Returns: the frames consumed and produced. An output frame needs half the filter's length of input after it: 80 frames
    ///   of the lower rate at the default quality.
    package func convert(
        _ input: Channels, frameCount: Int, inputOffset: Int = 0, into output: Channels, frameCapacity: Int,
        outputOffset: Int = 0
    ) -> (consumed: Int, produced: Int) {
        guard resampler != nil else {
            let frames = min(frameCount, frameCapacity)
            for c in 0..<channelCount { copySamples(output[c] + outputOffset, input[c] + inputOffset, frames) }
            return (frames, frames)
        }
        var consumed = 0
        var produced = 0
        while consumed < frameCount, produced < frameCapacity {
            let (taken, given) = step(
                input, min(frameCount - consumed, inputPiece), inputOffset + consumed, output,
                min(frameCapacity - produced, Self.outputPiece), outputOffset + produced)
            consumed += taken
            produced += given
        }
        return (consumed, produced)
    }

    /// Renders the output that `available` input frames allow; stores the frames if they are too few. Returns the frames consumed
    /// and produced.
    private func step(
        _ input: Channels, _ available: Int, _ inputOffset: Int, _ output: Channels, _ capacity: Int,
        _ outputOffset: Int
    ) -> (Int, Int) {
        let frames = min(capacity, resampler?.outputAvailable(afterAdding: available) ?? 0)
        let needed = frames > 0 ? resampler?.inputNeeded(for: frames) ?? 0 : available
        for c in 0..<channelCount {
            guard let to = resampler?.input[c], let offset = resampler?.inputOffset else { break }
            copySamples(to + offset, input[c] + inputOffset, needed)
        }
        resampler?.render(output, frameCount: frames, offset: outputOffset, adding: needed)
        return (needed, frames)
    }
}
