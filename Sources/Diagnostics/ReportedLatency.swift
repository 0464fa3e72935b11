// SPDX-License-Identifier: Apache-2.0

/// The time from a microphone to headphones through a ``Loopback``, as the device states it.
///
/// A sample enters the input converter `input` before the start of the cycle that hands it over, and leaves the output
/// converter `output` after the start of the cycle in which it is rendered (`IOCycle`). Without an extra delay both are the
/// same cycle, so that mouth to ear is the sum of the three: no block is added.
public struct ReportedLatency: Codable, Hashable, Sendable {
    /// Seconds from the input converter to the start of the cycle.
    public var input: Double
    /// Seconds from the start of the cycle to the output converter.
    public var output: Double
    /// Seconds that are added in between.
    public var extra: Double

    /// Its three parts, in seconds.
    public init(input: Double, output: Double, extra: Double) {
        self.input = input
        self.output = output
        self.extra = extra
    }

    /// In seconds, from mouth to ear.
    public var total: Double { input + output + extra }
    /// In seconds, what a ``RoundTrip`` measures where output and input are joined: it passes by the extra delay.
    public var roundTrip: Double { input + output }
}
