// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// Several speakers on two, or one (ITU-R BS.775, annex 4): the centre goes to both sides and what is behind or beside to its
/// own, each 3 dB lower; low frequencies' own channel is left out, as it says. All is made so much softer that nothing can clip.
/// The speakers are those that WAV and FLAC have for so many channels.
struct Downmix {
    /// For each channel that comes out, of each that goes in.
    private let weights: [[Float]]

    /// A speaker's part of the left and of the right.
    private struct Speaker {
        let left: Double
        let right: Double
        static let half = 0.5.squareRoot()  // −3 dB
        static let frontLeft = Speaker(left: 1, right: 0)
        static let frontRight = Speaker(left: 0, right: 1)
        static let center = Speaker(left: half, right: half)
        static let lowFrequencies = Speaker(left: 0, right: 0)
        static let leftSurround = Speaker(left: half, right: 0)
        static let rightSurround = Speaker(left: 0, right: half)
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

    /// Nil if there is nothing to mix: fewer than three channels, or more than have speakers, or not to one or two.
    init?(from input: Int, to output: Int) {
        guard (1...2).contains(output), let speakers = Self.speakers(input) else { return nil }
        let sum = speakers.reduce(0) { $0 + $1.left }  // and that of the right
        let sides = [speakers.map(\.left), speakers.map(\.right)]
        let mono = zip(sides[0], sides[1]).map { ($0 + $1) / 2 }
        weights = (output == 2 ? sides : [mono]).map { $0.map { Float($0 / sum) } }
    }

    /// Mixes frames from the beginning of the input to that of the output.
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
