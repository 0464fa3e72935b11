// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A measurement of the way from output to input: from the callback through both converters and their connection back to the
/// callback.
///
/// The round trip is counted on the device's frame counter, from a frame's position in the output to its position in the input.
/// By `IOCycle`'s definition of the latencies, it is the sum of the input's and the output's latency, if the connection itself
/// takes no time.
public struct RoundTrip: Codable, Hashable, Sendable {
    /// The round trip in frames of the device.
    public var frames: Double
    /// The round trip in seconds.
    public var seconds: Double
    /// The gain of the loop in dB; 0 for a cable between converters of equal gain.
    public var levelDecibels: Double
    /// True if the loop inverts the polarity.
    public var isInverted: Bool
    /// The confidence, 0 to 1: 1 minus the ratio of the highest correlation more than 20 ms from the peak to the peak. About 0.1
    /// without a loop; less than 0.5 counts as no loop.
    public var confidence: Double
    /// The input channel with the highest confidence, from 0.
    public var inputChannel: Int

    /// The least confidence with which a loop counts as found.
    static let minimumConfidence = 0.5
    private static let silenceThreshold = 1e-6  // root mean square, −120 dB of full scale
    private static let leadingLags = 2  // lags searched before lag 0, so that a peak at lag 0 has a neighbour

    /// Correlates each captured input with the test signal, by FFT, and uses the best one. A parabola through the peak gives the
    /// fraction of a frame. Takes some 50 ms per second of sound. Safe on any thread except a render thread.
    public init(_ capture: ProbeCapture) throws(RoundTripError) {
        let (offset, overflows) = capture.capturedSampleTime.subtractingReportingOverflow(capture.probeSampleTime)
        guard let count = capture.captured.map(\.count).min(), !capture.probe.isEmpty, !overflows, offset >= 0,
            count > capture.probe.count + Self.leadingLags
        else { throw .tooShort }
        let correlator = Correlator(window: capture.probe.count, lags: count - capture.probe.count + Self.leadingLags)
        var best: RoundTrip?
        var worstError = RoundTripError.silent
        for (channel, samples) in capture.captured.enumerated() {
            do throws(RoundTripError) {
                let found = try RoundTrip(samples, channel: channel, offset: Double(offset), capture, correlator)
                if found.confidence > best?.confidence ?? 0 { best = found }
            } catch {
                if error.weight > worstError.weight { worstError = error }
            }
        }
        guard let best else { throw worstError }
        self = best
    }

    private init(
        _ samples: [Float], channel: Int, offset: Double, _ capture: ProbeCapture, _ correlator: Correlator
    ) throws(RoundTripError) {
        let captured = try Self.checked(samples)
        let probe = capture.probe
        let correlation = correlator.correlate(probe[...], captured, -Self.leadingLags)
        let inner = 1..<correlation.count - 1
        guard let peak = inner.max(by: { correlation[$0].magnitude < correlation[$1].magnitude }) else {
            throw .tooShort
        }
        let sign: Double = correlation[peak] < 0 ? -1 : 1
        let (left, top, right) = (
            sign * Double(correlation[peak - 1]), sign * Double(correlation[peak]), sign * Double(correlation[peak + 1])
        )
        let distance = Int(0.02 * capture.sampleRate)
        let highestOther = inner.lazy.filter { abs($0 - peak) > distance }.map { correlation[$0].magnitude }.max() ?? 0
        confidence = top > 0 ? max(0, 1 - Double(highestOther) / top) : 0
        guard confidence >= Self.minimumConfidence else { throw .noLoop }
        let fraction = Correlator.peakOffset(left, top, right)
        let height = top - 0.25 * (left - right) * fraction
        let energy = probe.reduce(0) { $0 + Double($1) * Double($1) }
        frames = Double(peak - Self.leadingLags) + offset + fraction
        seconds = frames / capture.sampleRate
        levelDecibels = 20 * log10(height / energy)
        isInverted = sign < 0
        inputChannel = channel
    }

    /// Returns the samples minus their mean. Throws an error if the samples are clipped, silent or constant.
    static func checked(_ samples: [Float]) throws(RoundTripError) -> [Float] {
        var fullScaleCount = 0
        for sample in samples {
            guard sample.isFinite else { throw .clipped }
            fullScaleCount = sample.magnitude >= 0.999 ? fullScaleCount + 1 : 0
            if fullScaleCount == 3 { throw .clipped }
        }
        let mean = Float(samples.reduce(0) { $0 + Double($1) } / Double(samples.count))
        let centred = samples.map { $0 - mean }
        let meanSquare = centred.reduce(0) { $0 + Double($1) * Double($1) } / Double(samples.count)
        if meanSquare < silenceThreshold * silenceThreshold { throw mean.magnitude < 1e-4 ? .silent : .constant(mean) }
        return centred
    }
}
