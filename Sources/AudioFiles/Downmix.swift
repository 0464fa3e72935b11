// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// Mixes three to eight channels to two or one (ITU-R BS.775, annex 4): the centre goes to both sides, back and side channels to
/// their own, each at −3 dB; the low-frequency channel is left out. The sum is attenuated so that it cannot clip. Speakers are
/// those of WAV and FLAC for the number of channels.
struct Downmix {
    /// The gains: an array for each output channel, with the gain of each input channel.
    private let weights: [[Float]]

    /// The gains of a speaker in the left and the right output.
    private struct Speaker {
        let left: Double
        let right: Double
        static let minus3Decibels = 0.5.squareRoot()  // −3 dB
        static let frontLeft = Speaker(left: 1, right: 0)
        static let frontRight = Speaker(left: 0, right: 1)
        static let center = Speaker(left: minus3Decibels, right: minus3Decibels)
        static let lowFrequencies = Speaker(left: 0, right: 0)
        static let leftSurround = Speaker(left: minus3Decibels, right: 0)
        static let rightSurround = Speaker(left: 0, right: minus3Decibels)
        static let centerSurround = Speaker(left: 0.5, right: 0.5)  // 3 dB lower on either surround
    }

    private static func speakers(_ count: Int) -> [Speaker]? {
        let front: [Speaker] = [.frontLeft, .frontRight]
        let surround: [Speaker] = [.leftSurround, .rightSurround]
        return switch count {
        case 3: front + [.center]
        case 4: front + surround
        case 5: front + [.center] + surround
        case 6: front + [.center, .lowFrequencies] + surround
        case 7: front + [.center, .lowFrequencies, .centerSurround] + surround
        case 8: front + [.center, .lowFrequencies] + surround + surround
        default: nil
        }
    }

    /// Creates a mix; nil if none is defined: for fewer than three or more than eight inputs, or more than two outputs.
    init?(from input: Int, to output: Int) {
        guard (1...2).contains(output), let speakers = Self.speakers(input) else { return nil }
        let sum = speakers.reduce(0) { $0 + $1.left }  // the gains in the right output have the same sum
        let sides = [speakers.map(\.left), speakers.map(\.right)]
        let mono = zip(sides[0], sides[1]).map { ($0 + $1) / 2 }
        weights = (output == 2 ? sides : [mono]).map { $0.map { Float($0 / sum) } }
    }

    /// Mixes the first `frameCount` frames of the input.
    func process(_ input: Channels, to output: Channels, frameCount: Int) {
        for (to, weights) in weights.enumerated() {
            let sum = output[to]
            clearSamples(sum, frameCount)
            for (from, weight) in weights.enumerated() where weight != 0 {
                let samples = input[from]
                for i in 0..<frameCount { sum[i] += samples[i] * weight }
            }
        }
    }
}
