// SPDX-License-Identifier: Apache-2.0

import CEarshotPipeWire

extension PipeWireGraph {
    /// The latency of a port.
    struct Delay: Hashable {
        /// Quanta, within ±1,000.
        var quanta = 0.0
        /// Frames, within ±10,000,000.
        var frames = 0
        /// Nanoseconds, within ±10 s: a user's offset may be negative.
        var nanoseconds = 0
    }
}

extension PipeWireGraph.Delay {
    /// Reads a port's report, whose values are not validated: a negative one is reported as unsigned, 2^32 or 2^64 minus its
    /// magnitude (0.3.65).
    init(_ latency: spa_latency_info) {
        func clamp<T: Comparable & SignedNumeric>(_ value: T, to limit: T) -> T { max(-limit, min(limit, value)) }
        quanta = latency.max_quantum.isNaN ? 0 : clamp(Double(latency.max_quantum), to: 1_000)
        frames = clamp(Int(Int32(truncatingIfNeeded: latency.max_rate)), to: 10_000_000)
        nanoseconds = clamp(Int(truncatingIfNeeded: latency.max_ns), to: 10_000_000_000)
    }

    /// Returns the sum in seconds, clamped to 0…10.
    func seconds(quantum: Double, sampleRate: Double) -> Double {
        max(0, min(10, quanta * quantum + Double(frames) / sampleRate + Double(nanoseconds) * 1e-9))
    }
}
