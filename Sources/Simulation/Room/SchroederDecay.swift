// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The reverberation time by backward integration (M. R. Schroeder, "New method of measuring reverberation time", 1965).
enum SchroederDecay {
    /// Returns the seconds in which the sound decays by 60 dB, from the decay between −5 and −25 dB; infinity if it does not
    /// decay so far.
    /// - Parameters:
    ///   - energies: the energy of each step of time.
    ///   - binSeconds: the length of a step.
    static func reverberationTime(energies: [Double], binSeconds: Double) -> Double {
        var sums = energies
        for i in sums.indices.dropLast().reversed() { sums[i] += sums[i + 1] }
        guard let whole = sums.first, whole > 0 else { return .infinity }
        let levels = sums.map { 10 * log10(max($0 / whole, 1e-30)) }
        guard let start = levels.firstIndex(where: { $0 <= -5 }), let end = levels.firstIndex(where: { $0 <= -25 })
        else { return .infinity }
        // The slope of the line of least squares.
        let indices = Array(start...max(end, start + 1)).filter { $0 < levels.count }
        let (meanIndex, meanLevel) = (
            indices.reduce(0) { $0 + Double($1) } / Double(indices.count),
            indices.reduce(0) { $0 + levels[$1] } / Double(indices.count)
        )
        let slope =
            indices.reduce(0) { $0 + (Double($1) - meanIndex) * (levels[$1] - meanLevel) }
            / indices.reduce(0) { $0 + pow(Double($1) - meanIndex, 2) }
        return slope < 0 ? -60 / slope * binSeconds : .infinity
    }

    /// Returns the same for an impulse response.
    static func reverberationTime(of response: [Float], sampleRate: Double) -> Double {
        reverberationTime(energies: response.map { Double($0) * Double($0) }, binSeconds: 1 / sampleRate)
    }
}
