// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioFiles
import Foundation
import Testing

@Suite struct RateConverterTests {
    static let rates: [(Double, Double)] = [
        (44_100, 48_000), (48_000, 44_100), (8_000, 48_000), (48_000, 16_000), (48_000, 48_000), (96_000, 44_100),
        (44_101.5, 48_000),
    ]

    @Test("A converted tone keeps its frequency and phase, in pieces of any size", arguments: rates, [1, 97, 4096])
    func tones(rates: (Double, Double), piece: Int) {
        let (from, to) = rates
        let converter = RateConverter(from: from, to: to, channelCount: 2)
        let input = tone(frames: 3000, channels: 2, rate: from, hertz: 500)
        let output = AudioBuffer(channelCount: 2, frameCapacity: 40_000)
        var taken = 0
        var given = 0
        while taken < 3000 {
            let (consumed, produced) = converter.convert(
                input.channels, frameCount: min(piece, 3000 - taken), inputOffset: taken, into: output.channels,
                frameCapacity: min(piece, 40_000 - given), outputOffset: given)
            taken += consumed
            given += produced
        }
        let expected = tone(frames: given, channels: 2, rate: to, hertz: 500)
        let edge = from == to ? 0 : Int(40 * max(1, to / from))
        #expect(given > Int(2800 * to / from) - 4 * edge)
        for c in 0..<2 {
            #expect(errorDecibels(samples(output, c, edge..<given), samples(expected, c, edge..<given)) < -75)
        }
    }

    @Test("Frequencies above the Nyquist limit of the lower rate are removed", arguments: [22_100.0, 23_000, 23_950])
    func aliasing(hertz: Double) {
        let converter = RateConverter(from: 48_000, to: 44_100, channelCount: 1)
        let input = tone(frames: 8000, rate: 48_000, hertz: hertz, gain: 1)
        let output = AudioBuffer(channelCount: 1, frameCapacity: 8000)
        let given = converter.convert(input.channels, frameCount: 8000, into: output.channels, frameCapacity: 8000)
        let rest = samples(output, 0, 200..<given.produced)
        let power = rest.reduce(0) { $0 + Double($1 * $1) } / Double(rest.count)
        #expect(10 * log10(power * 2) < -100)
    }
}
