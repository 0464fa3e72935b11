// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Measures tones of 100, 150, 200 … 400 Hz in every 20 ms at 48 kHz. Since 20 ms hold whole periods of each, they do not affect
/// each other.
public struct ToneMeter {
    /// The frames of a measure.
    public static let frameCount = 960
    private static let frequencies = stride(from: 100, through: 400, by: 50)
    private static let table = (0..<frameCount).map { n in
        let angle = 2 * Double.pi * Double(n) / Double(frameCount)
        return (cos(angle), sin(angle))
    }
    private var sums = [(Double, Double)](repeating: (0, 0), count: 7)
    private var count = 0

    /// Creates a meter at the beginning of a sound.
    public init() {}

    /// Adds a sample. At the end of every 20 ms, returns the amplitudes, the lowest tone's first.
    public mutating func add(_ sample: Float) -> [Double]? {
        for (k, frequency) in Self.frequencies.enumerated() {
            let (x, y) = Self.table[count * (frequency / 50) % Self.frameCount]
            sums[k].0 += Double(sample) * x
            sums[k].1 += Double(sample) * y
        }
        count += 1
        guard count == Self.frameCount else { return nil }
        defer {
            count = 0
            for k in sums.indices { sums[k] = (0, 0) }
        }
        return sums.map { ($0.0 * $0.0 + $0.1 * $0.1).squareRoot() / Double(Self.frameCount / 2) }
    }
}
