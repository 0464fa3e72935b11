// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP

/// Changes the sample rate of a stream by a fixed ratio, without delay: output frame n is the input at n · from / to.
///
/// A `Resampler`, fed and emptied in pieces of any size. Equal rates pass unchanged. One thread at a time; allocates only
/// when made.
package final class RateConverter {
    /// Channels converted alike.
    package let channelCount: Int
    private var resampler: Resampler?  // nil where the rates are equal
    private let inputPiece: Int  // frames that fit into the resampler at once
    private static let outputPiece = 1024

    /// - Parameters:
    ///   - from: input rate in hertz.
    ///   - to: output rate in hertz.
    ///   - channelCount: 1 to 32.
    ///   - quality: what is kept of the band and what folds back; the finest where nothing is said.
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

    /// Frames that so many make at another rate: the nearest whole number, so that those that were brought to a higher rate are as
    /// many again when they come back; of any at least one.
    package static func frameCount(_ count: Int, from: Double, to: Double) -> Int {
        let frames = (Double(count) * to / from).rounded()
        return frames < 9e18 ? max(min(count, 1), Int(frames)) : Int.max
    }

    /// Returns the first input frame from which the output from a frame on equals that from the beginning on: at an instant that is
    /// a frame of both, far enough before it for the filter to fill.
    package static func start(for frame: Int, from: Double, to: Double) -> Int {
        guard from != to else { return frame }
        let filled = 200 * max(1, from / to)
        let period = Double(self.period(from: from, to: to))
        return Int(max(0, ((Double(frame) * from / to - filled) / period).rounded(.down)) * period)
    }

    /// Frames of input between instants that are frames of both.
    package static func period(from: Double, to: Double) -> Int {
        func greatestCommonDivisor(_ a: Int, _ b: Int) -> Int { b == 0 ? max(1, a) : greatestCommonDivisor(b, a % b) }
        return from == to ? 1 : Int(from) / greatestCommonDivisor(Int(from), Int(to))
    }

    /// Converts until the input is consumed or the output is full.
    /// - Parameters:
    ///   - input: `frameCount` frames from `inputOffset`.
    ///   - output: room for `frameCapacity` frames from `outputOffset`.
    /// - Returns: frames taken and frames given. An output frame appears once the filter's half length of input
    ///   behind it came: 80 frames of the lower rate where nothing was said of quality.
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

    /// Renders what `available` frames of input allow; keeps them if they are too few.
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
