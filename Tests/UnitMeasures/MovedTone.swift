// SPDX-License-Identifier: Apache-2.0

import EarshotAudioDSP
import Glibc

/// Moves parameters of units during sound, and measures clicks.
public enum MovedTone {
    /// Returns the loudest click in dBFS while a unit plays a tone of 440 Hz at half of full scale and one parameter moves from
    /// end to end and back, in ramps of 0.1 s (a switch changes at once), as the engine moves it: linearly in pieces of 32
    /// frames.
    ///
    /// A click is the remainder above 6 kHz after four Butterworth poles; the tone itself leaves −95 dB there.
    public static func click(
        _ type: UnitType, _ values: [String: Float], moving identifier: String, from: Float, to: Float,
        rate: Double = 48_000
    ) -> Double {
        let place = type.description.index(of: identifier)!
        let unit = type.makeUnit(sampleRate: rate, channelCount: 2)
        var now = type.description.values(of: UnitPreset("measured", values))
        now[place] = from
        unit.set(now)
        let seconds = 3.0
        let count = Int(seconds * rate) / 32 * 32
        let tone = UnitDrive.sine(440, rate: rate, count: count, amplitude: 0.5)
        let fadeIn = Int(0.2 * rate)
        let input = tone.enumerated().map { i, x in
            i < fadeIn ? x * Float(0.5 - 0.5 * cos(Double.pi * Double(i) / Double(fadeIn))) : x
        }
        let steps = type.description.parameters[place].unit.isContinuous ? Int(0.1 * rate) / 32 : 1
        var output: [[Float]] = [[], []]
        var at = 0
        let moves = [0.6, 0.85, 1.1, 1.13, 1.6, 2.2]  // one while the one before still goes on
        var begun = 0
        var start = from
        while at < count {
            if begun < moves.count, Double(at) / rate >= moves[begun] {
                start = now[place]
                begun += 1
            }
            if begun > 0 {
                let part = Float((Double(at) / rate - moves[begun - 1]) * rate / 32 + 1) / Float(steps)
                now[place] = start + ((begun % 2 == 1 ? to : from) - start) * min(1, part)
                unit.set(now, over: 32)
            }
            let block = Array(input[at..<at + 32])
            for (c, x) in UnitDrive.render(unit, [block, block], blocks: [32]).enumerated() { output[c] += x }
            at += 32
        }
        return output.map { x in
            var y = x.map(Double.init)
            for q in [0.541_196_1, 1.306_563_0] { y = RoomResponse.biquad(y, 6000, q, rate, highPass: true) }
            return 20 * log10(y.map(abs).max()! + 1e-15)
        }.max()!
    }
}
