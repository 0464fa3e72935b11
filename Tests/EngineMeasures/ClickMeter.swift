// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The peak above 2 kHz, which is what remains of a click in a low tone. A third-order high-pass filter reduces a tone of 20 Hz
/// by more than 120 dB, one of 100 Hz by 78 and one of 200 Hz by 60; a step passes unchanged.
public struct ClickMeter {
    private let pole: Double
    private var last = (0.0, 0.0, 0.0)
    private var out = (0.0, 0.0, 0.0)
    private var settling: Int
    /// 1 is full scale.
    public private(set) var peak = 0.0

    /// - Parameters:
    ///   - rate: hertz.
    ///   - settling: frames to ignore, in which the filter and the sound begin.
    public init(rate: Double = 48_000, settling: Int = 500) {
        pole = 1 / (1 + 2 * Double.pi * 2_000 / rate)
        self.settling = settling
    }

    /// Adds a sample.
    public mutating func add(_ sample: Float) {
        let x = Double(sample)
        out.0 = pole * (out.0 + x - last.0)
        last.0 = x
        out.1 = pole * (out.1 + out.0 - last.1)
        last.1 = out.0
        out.2 = pole * (out.2 + out.1 - last.2)
        last.2 = out.1
        if settling > 0 { settling -= 1 } else { peak = max(peak, abs(out.2)) }
    }

    /// Resets the peak.
    public mutating func restart() { peak = 0 }

    /// The peak in dBFS.
    public var level: Double { 20 * log10(max(peak, 1e-12)) }
}
