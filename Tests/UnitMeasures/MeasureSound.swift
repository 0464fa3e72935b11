// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Sounds for measurements.
enum MeasureSound {
    /// A seeded generator (SplitMix64), so that figures are reproducible.
    struct Noise {
        private var state: UInt64
        init(_ seed: UInt64) { state = seed }

        /// Uniform from −1 to 1.
        mutating func next() -> Double {
            state &+= 0x9E37_79B9_7F4A_7C15
            var z = state
            z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
            z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
            return Double((z ^ (z >> 31)) >> 11) / Double(1 << 52) - 1
        }

        /// Approximately normal with variance 1.
        mutating func normal() -> Double { (0..<12).reduce(0) { sum, _ in sum + next() } / 2 }
    }

    /// Four successive clips of speech: Debian's alsa-utils, mono, 48 kHz.
    static let speech: [Float] = {
        ["Front_Center", "Front_Left", "Rear_Right", "Side_Left"].flatMap { wave("/usr/share/sounds/alsa/\($0).wav") }
    }()

    /// Returns the samples of a WAV file with one channel and 16 bits.
    private static func wave(_ path: String) -> [Float] {
        guard let file = fopen(path, "rb") else { fatalError("\(path) is missing: install alsa-utils") }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 4_000_000)
        let count = fread(&bytes, 1, bytes.count, file)
        var at = 12
        while at + 8 <= count {
            let length = (0..<4).reduce(0) { $0 | Int(bytes[at + 4 + $1]) << (8 * $1) }
            if bytes[at..<at + 4].elementsEqual("data".utf8) {
                let end = min(count, at + 8 + length)
                return stride(from: at + 8, to: end - 1, by: 2).map {
                    Float(Int16(bitPattern: UInt16(bytes[$0]) | UInt16(bytes[$0 + 1]) << 8)) / 32_768
                }
            }
            at += 8 + length + length % 2
        }
        fatalError("\(path) has no samples")
    }
}
