// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP

/// The sound of several loudspeakers, one after the other, with silence between them.
struct HeardTimeline {
    private struct Part {
        let rate: Double
        /// The seconds of silence before the part; negative to remove silence.
        let gap: Double
        var samples: [Float] = []
    }

    private var parts: [Part] = []

    /// Begins the sound of a loudspeaker at a rate in hertz, after seconds of silence.
    mutating func begin(rate: Double, gap: Double) { parts.append(Part(rate: rate, gap: gap)) }

    mutating func append(_ samples: UnsafeBufferPointer<Float>) {
        parts[parts.count - 1].samples.append(contentsOf: samples)
    }

    /// The sound at ``ChangedCall/rate``.
    var samples: [Float] {
        var all: [Float] = []
        for (index, part) in parts.enumerated() {
            let count = Int((part.gap * ChangedCall.rate).rounded())
            // A loudspeaker that was replaced before its first block leaves only silence, which may be too long.
            if count < 0 { all.removeLast(min(0 - count, all.count)) }
            all += [Float](repeating: 0, count: max(0, count))
            guard part.rate != ChangedCall.rate else {
                all += part.samples
                continue
            }
            all += Self.converted(part.samples, from: part.rate)
            // The last sound does not fade out, and the filter sees silence after it.
            if index == parts.count - 1 { all.removeLast(min(Self.filterLength, all.count)) }
        }
        return all
    }

    private static let pieceLength = 1_024
    /// The frames at the end that silence behind them changes.
    private static let filterLength = 64

    private static func converted(_ samples: [Float], from rate: Double) -> [Float] {
        var resampler = Resampler(
            from: rate, to: ChangedCall.rate, channelCount: 1, halfLength: 32, maximumFrameCount: pieceLength)
        let total = Int(Double(samples.count) / rate * ChangedCall.rate)
        var all: [Float] = []
        var readCount = 0
        let output = AudioBuffer(channelCount: 1, frameCapacity: pieceLength)
        while all.count < total {
            let needed = resampler.inputNeeded(for: pieceLength)
            for i in 0..<needed {
                let index = readCount + i
                resampler.input[0][resampler.inputOffset + i] = index < samples.count ? samples[index] : 0
            }
            readCount += needed
            resampler.render(output.channels, frameCount: pieceLength, offset: 0, adding: needed)
            all.append(contentsOf: UnsafeBufferPointer(start: output.channels[0], count: pieceLength))
        }
        return Array(all[..<total])
    }
}
