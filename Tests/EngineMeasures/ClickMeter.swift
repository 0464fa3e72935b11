// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The loudest sample of what lies above 2 kHz: what is left of a click behind a low tone. A third-order high-pass, which takes
/// more than 120 dB from a tone of 20 Hz, 78 from one of 100 and 60 from one of 200; a step passes it whole.
public struct ClickMeter {
    private let pole: Double
    private var last = (0.0, 0.0, 0.0)
    private var out = (0.0, 0.0, 0.0)
    private var settling: Int
    /// 1 is full scale.
    public private(set) var peak = 0.0

    /// - Parameters:
    ///   - rate: hertz.
    ///   - settling: frames that are not looked at, as the filter and the sound begin in them.
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

    /// Looks anew.
    public mutating func restart() { peak = 0 }

    /// dB of full scale.
    public var level: Double { 20 * log10(max(peak, 1e-12)) }
}
