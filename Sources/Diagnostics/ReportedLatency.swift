// SPDX-License-Identifier: Apache-2.0

/// The time from a microphone to headphones through a ``Loopback``, as the device reports it.
///
/// A sample enters the input converter `input` seconds before the start of the cycle that delivers it, and leaves the output
/// converter `output` seconds after the start of the cycle that renders it (`IOCycle`). Without an extra delay both are the same
/// cycle. So the mouth-to-ear delay is the sum of the three parts, and no block is added.
public struct ReportedLatency: Codable, Hashable, Sendable {
    /// Seconds from the input converter to the start of the cycle.
    public var input: Double
    /// Seconds from the start of the cycle to the output converter.
    public var output: Double
    /// Seconds of extra delay between input and output.
    public var extra: Double

    /// Creates a latency of three parts in seconds.
    public init(input: Double, output: Double, extra: Double) {
        self.input = input
        self.output = output
        self.extra = extra
    }

    /// The mouth-to-ear delay in seconds.
    public var total: Double { input + output + extra }
    /// The seconds that a ``RoundTrip`` measures with output and input connected. The extra delay is not part of it.
    public var roundTrip: Double { input + output }
}
