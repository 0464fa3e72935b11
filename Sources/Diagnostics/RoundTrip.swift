// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A measurement of the way from output to input: from the callback through both converters and their connection back to the
/// callback.
///
/// It is counted on the device's frame counter, from a frame's position in the output to its position in the input. By
/// `IOCycle`'s definition of the latencies it is their sum, if the connection itself takes no time.
public struct RoundTrip: Codable, Hashable, Sendable {
    /// In frames of the device.
    public var frames: Double
    /// In seconds.
    public var seconds: Double
    /// The gain of the loop in dB; 0 for a cable between converters of equal gain.
    public var levelDecibels: Double
    /// True if the loop inverts the polarity.
    public var isInverted: Bool
    /// 0 to 1: how far the peak of the correlation exceeds the highest one at a distance of at least 20 ms. Without a loop it is
    /// about 0.1.
    public var confidence: Double
    /// The input with the best result, from 0.
    public var inputChannel: Int

    /// With less confidence there is no loop.
    static let minimumConfidence = 0.5
    private static let quiet = 1e-6  // root mean square: −120 dB
    private static let rim = 2  // lags before 0 that are looked at, so that a peak at 0 is whole

    /// Correlates each captured input with the test signal, by FFT, and uses the best one. A parabola through the peak gives the
    /// fraction of a frame. Takes some 50 ms per second of sound. Safe on any thread except a render thread.
    public init(_ capture: ProbeCapture) throws(RoundTripError) {
        let (offset, overflows) = capture.capturedSampleTime.subtractingReportingOverflow(capture.probeSampleTime)
        guard let count = capture.captured.map(\.count).min(), !capture.probe.isEmpty, !overflows, offset >= 0,
            count > capture.probe.count + Self.rim
        else { throw .tooShort }
        let correlator = Correlator(window: capture.probe.count, lags: count - capture.probe.count + Self.rim)
        var best: RoundTrip?
        var worst = RoundTripError.silent
        for (channel, samples) in capture.captured.enumerated() {
            do throws(RoundTripError) {
                let found = try RoundTrip(samples, channel: channel, offset: Double(offset), capture, correlator)
                if found.confidence > best?.confidence ?? 0 { best = found }
            } catch {
                if error.weight > worst.weight { worst = error }
            }
        }
        guard let best else { throw worst }
        self = best
    }

    private init(
        _ samples: [Float], channel: Int, offset: Double, _ capture: ProbeCapture, _ correlator: Correlator
    ) throws(RoundTripError) {
        let captured = try Self.checked(samples)
        let probe = capture.probe
        let correlation = correlator.correlate(probe[...], captured, -Self.rim)
        let inner = 1..<correlation.count - 1
        guard let at = inner.max(by: { correlation[$0].magnitude < correlation[$1].magnitude }) else {
            throw .tooShort
        }
        let sign: Double = correlation[at] < 0 ? -1 : 1
        let (left, top, right) = (
            sign * Double(correlation[at - 1]), sign * Double(correlation[at]), sign * Double(correlation[at + 1])
        )
        let near = Int(0.02 * capture.sampleRate)
        let rest = inner.lazy.filter { abs($0 - at) > near }.map { correlation[$0].magnitude }.max() ?? 0
        confidence = top > 0 ? max(0, 1 - Double(rest) / top) : 0
        guard confidence >= Self.minimumConfidence else { throw .noLoop }
        let fraction = Correlator.peakOffset(left, top, right)
        let height = top - 0.25 * (left - right) * fraction
        let energy = probe.reduce(0) { $0 + Double($1) * Double($1) }
        frames = Double(at - Self.rim) + offset + fraction
        seconds = frames / capture.sampleRate
        levelDecibels = 20 * log10(height / energy)
        isInverted = sign < 0
        inputChannel = channel
    }

    /// Returns the samples minus their mean; nil for silence.
    private static func checked(_ samples: [Float]) throws(RoundTripError) -> [Float] {
        var run = 0
        for sample in samples {
            guard sample.isFinite else { throw .clipped }
            run = sample.magnitude >= 0.999 ? run + 1 : 0
            if run == 3 { throw .clipped }
        }
        let mean = Float(samples.reduce(0) { $0 + Double($1) } / Double(samples.count))
        let centred = samples.map { $0 - mean }
        let square = centred.reduce(0) { $0 + Double($1) * Double($1) } / Double(samples.count)
        if square < quiet * quiet { throw mean.magnitude < 1e-4 ? .silent : .constant(mean) }
        return centred
    }
}
