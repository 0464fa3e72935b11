// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport

/// A voice without words: 120 Hz with its harmonics, whose pitch varies by a tenth.
func voice(_ n: Int) -> Float { voiceTable[n % voiceTable.count] }

/// Ten seconds, after which all of its frequencies begin again.
private let voiceTable = (0..<480_000).map { n in
    let t = Double(n) / 48_000
    let phase = 2 * Double.pi * (120 * t + 12 / (2 * Double.pi * 0.7) * sin(2 * Double.pi * 0.7 * t))
    var sum = 0.0
    for k in 1...12 { sum += sin(Double(k) * phase) / Double(k) }
    return Float(0.15 * sum)
}

/// Four simultaneous notes without a common period shorter than a tenth of a second.
func chord(_ n: Int) -> Float { chordTable[n % chordTable.count] }

/// Ten seconds, after which all of its notes begin again.
private let chordTable = (0..<480_000).map { n in
    let t = Double(n) / 48_000
    return Float([131.3, 173.9, 207.1, 311.7].reduce(0.0) { $0 + 0.1 * sin(2 * Double.pi * $1 * t) })
}

/// Returns the largest step between neighbouring samples, which a click exceeds.
func steepest(_ samples: ArraySlice<Float>) -> Float {
    zip(samples, samples.dropFirst()).map { abs($1 - $0) }.max() ?? 0
}

/// A sine of 440 Hz at 48 kHz from a table of its 1,200 frames.
func tabled() -> (Int) -> Float {
    let table = (0..<1_200).map { sine($0, frequency: 440, rate: 48_000) }
    return { table[$0 % 1_200] }
}

/// True if figures are to be printed.
var printsFigures: Bool { ProcessInfo.processInfo.environment["EARSHOT_FIGURES"] != nil }
