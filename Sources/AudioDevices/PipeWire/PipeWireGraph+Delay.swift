// SPDX-License-Identifier: Apache-2.0

import CEarshotPipeWire

extension PipeWireGraph {
    /// The latency of a port: the sum of three parts.
    struct Delay: Hashable {
        /// The part in quanta, within ±1,000.
        var quanta = 0.0
        /// The part in frames, within ±10,000,000.
        var frames = 0
        /// The part in nanoseconds, within ±10 s; negative if the user has set a negative offset.
        var nanoseconds = 0
    }
}

extension PipeWireGraph.Delay {
    /// Creates the latency that the server reports for a port. The server does not validate the values: it reports a negative
    /// number as an unsigned one, 2^32 or 2^64 minus the magnitude (0.3.65).
    init(_ latency: spa_latency_info) {
        func clamp<T: Comparable & SignedNumeric>(_ value: T, to limit: T) -> T { max(-limit, min(limit, value)) }
        quanta = latency.max_quantum.isNaN ? 0 : clamp(Double(latency.max_quantum), to: 1_000)
        frames = clamp(Int(Int32(truncatingIfNeeded: latency.max_rate)), to: 10_000_000)
        nanoseconds = clamp(Int(truncatingIfNeeded: latency.max_ns), to: 10_000_000_000)
    }

    /// Returns the sum of the parts in seconds, clamped to 0…10, for a quantum in seconds.
    func seconds(quantum: Double, sampleRate: Double) -> Double {
        max(0, min(10, quanta * quantum + Double(frames) / sampleRate + Double(nanoseconds) * 1e-9))
    }
}
