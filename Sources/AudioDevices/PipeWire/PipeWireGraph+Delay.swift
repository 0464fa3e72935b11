// SPDX-License-Identifier: Apache-2.0

import CEarshotPipeWire

extension PipeWireGraph {
    /// The delay of sound beyond a port.
    struct Delay: Hashable {
        /// Up to ±1,000.
        var quanta = 0.0
        /// Up to ±10,000,000.
        var frames = 0
        /// Up to ±10 s: an offset that a user gave may be negative.
        var nanoseconds = 0
    }
}

extension PipeWireGraph.Delay {
    /// Reads a port's report, whose values are not validated: a negative one arrives as 2^32 or 2^64 less its size (0.3.65).
    init(_ latency: spa_latency_info) {
        func clamp<T: Comparable & SignedNumeric>(_ value: T, to limit: T) -> T { max(-limit, min(limit, value)) }
        quanta = latency.max_quantum.isNaN ? 0 : clamp(Double(latency.max_quantum), to: 1_000)
        frames = clamp(Int(Int32(truncatingIfNeeded: latency.max_rate)), to: 10_000_000)
        nanoseconds = clamp(Int(truncatingIfNeeded: latency.max_ns), to: 10_000_000_000)
    }

    /// 0 to 10.
    func seconds(quantum: Double, sampleRate: Double) -> Double {
        max(0, min(10, quanta * quantum + Double(frames) / sampleRate + Double(nanoseconds) * 1e-9))
    }
}
