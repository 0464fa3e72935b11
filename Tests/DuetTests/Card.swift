// SPDX-License-Identifier: Apache-2.0

/// A sound card on virtual time: a counter whose rate changes once.
struct Card {
    static let nominalRate = 48_000.0
    /// The true time of the counter's first frame, in seconds.
    var origin = 0.0
    var firstFrame: Int64 = 0
    var partsPerMillion: Double
    /// The number of frames after which the rate changes, and its change in parts per million.
    var change: (frames: Double, partsPerMillion: Double) = (.infinity, 0)
    /// Frames, with one device for both directions; seconds, with two.
    var latency: (input: Double, output: Double)
    /// The next frame of the counter.
    var next: Int64

    private var rates: (Double, Double) {
        let first = Self.nominalRate * (1 + partsPerMillion * 1e-6)
        return (first, first + Self.nominalRate * change.partsPerMillion * 1e-6)
    }

    init(
        firstFrame: Int64 = 0, origin: Double = 0, partsPerMillion: Double, latency: (Double, Double),
        change: (Double, Double) = (.infinity, 0)
    ) {
        (self.firstFrame, self.origin, self.partsPerMillion) = (firstFrame, origin, partsPerMillion)
        (self.latency, self.change) = (latency, change)
        next = firstFrame
    }

    func time(_ frame: Double) -> Double {
        let count = frame - Double(firstFrame)
        return origin + min(count, change.frames) / rates.0 + max(0, count - change.frames) / rates.1
    }

    func frame(_ time: Double) -> Double {
        let first = change.frames / rates.0
        let passed = time - origin
        return Double(firstFrame) + min(passed, first) * rates.0 + max(0, passed - first) * rates.1
    }
}
