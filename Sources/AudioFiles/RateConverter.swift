import AudioBase
import Glibc

/// Changes the sample rate of a stream by a fixed ratio, without delay: output frame n is the input at n · from / to.
///
/// Windowed-sinc interpolation (J. O. Smith, "Digital Audio Resampling", ccrma.stanford.edu/~jos/resample): a Kaiser
/// window with β = 9, 32 zero crossings a side, 512 phases with linear interpolation between, stop band below −80 dB.
/// Equal rates pass unchanged. One thread at a time; allocates only when made.
public final class RateConverter {
    /// Channels converted alike.
    public let channelCount: Int
    private let stepWhole: Int
    private let stepFraction: Double
    private let half: Int  // taps a side
    private let table: [Float]
    private let history: AudioBuffer
    private var held = 0  // frames in history
    private var position: Int  // in history, of the input frame at or before the next output
    private var fraction = 0.0
    private static let phases = 512
    private static let block = 1024

    /// - Parameters:
    ///   - from: input rate in hertz.
    ///   - to: output rate in hertz.
    ///   - channelCount: 1 to 32.
    public init(from: Double, to: Double, channelCount: Int) {
        precondition(AudioFormat.sampleRates.contains(from) && AudioFormat.sampleRates.contains(to))
        self.channelCount = channelCount
        let step = from / to
        stepWhole = Int(step)
        stepFraction = step - Double(stepWhole)
        half = from == to ? 0 : (Int((32 * max(1, step)).rounded(.up)) + 3) & ~3
        table = half == 0 ? [] : Self.kernel(half: half, bandwidth: min(1, 1 / step))
        history = AudioBuffer(channelCount: channelCount, frameCapacity: 2 * half + stepWhole + Self.block)
        held = max(0, half - 1)  // silence before the start
        position = held
    }

    /// `phases + 1` rows of `2 · half` taps; each row sums to 1.
    private static func kernel(half: Int, bandwidth: Double) -> [Float] {
        let beta = 9.0
        let cutoff = bandwidth * (1 - 0.09)  // the stop band begins at the lower Nyquist frequency
        var table = [Float](repeating: 0, count: (phases + 1) * 2 * half)
        var row = [Double](repeating: 0, count: 2 * half)
        for phase in 0...phases {
            var sum = 0.0
            for k in 0..<2 * half {
                let x = Double(k - half + 1) - Double(phase) / Double(phases)
                let edge = x / Double(half)
                let window = edge.magnitude >= 1 ? 0 : besselI0(beta * (1 - edge * edge).squareRoot())
                let angle = Double.pi * cutoff * x
                row[k] = (angle == 0 ? 1 : sin(angle) / angle) * window
                sum += row[k]
            }
            for k in 0..<2 * half { table[phase * 2 * half + k] = Float(row[k] / sum) }
        }
        return table
    }

    /// The modified Bessel function of order 0, by its power series.
    private static func besselI0(_ x: Double) -> Double {
        var term = 1.0
        var sum = 1.0
        var k = 1.0
        while term > sum * 1e-12 {
            term *= (x / 2 / k) * (x / 2 / k)
            sum += term
            k += 1
        }
        return sum
    }

    /// Takes input and gives output until either is used up.
    /// - Parameters:
    ///   - input: `frameCount` frames from `inputOffset`.
    ///   - output: room for `frameCapacity` frames from `outputOffset`.
    /// - Returns: frames taken and frames given. An output frame appears once 32 zero crossings of input behind it came.
    public func convert(
        _ input: Channels, frameCount: Int, inputOffset: Int = 0, into output: Channels, frameCapacity: Int,
        outputOffset: Int = 0
    ) -> (consumed: Int, produced: Int) {
        if half == 0 {
            let frames = min(frameCount, frameCapacity)
            for c in 0..<channelCount { copySamples(output[c] + outputOffset, input[c] + inputOffset, frames) }
            return (frames, frames)
        }
        var consumed = 0
        var produced = 0
        while true {
            produced += produce(output, frameCapacity - produced, outputOffset + produced)
            makeRoom()
            let frames = min(frameCount - consumed, history.frameCapacity - held)
            guard produced < frameCapacity, frames > 0 else { return (consumed, produced) }
            for c in 0..<channelCount {
                copySamples(history.channels[c] + held, input[c] + inputOffset + consumed, frames)
            }
            held += frames
            consumed += frames
        }
    }

    private func produce(_ output: Channels, _ capacity: Int, _ offset: Int) -> Int {
        var produced = 0
        table.withUnsafeBufferPointer { table in
            while produced < capacity, position + half < held {
                let at = fraction * Double(Self.phases)
                let phase = Int(at)
                let blend = Float(at - Double(phase))
                for c in 0..<channelCount {
                    let x = history.channels[c] + (position - half + 1)
                    var low: Float = 0
                    var high: Float = 0
                    var tap = phase * 2 * half
                    for k in 0..<2 * half {
                        low += x[k] * table[tap]
                        high += x[k] * table[tap + 2 * half]
                        tap += 1
                    }
                    output[c][offset + produced] = low + blend * (high - low)
                }
                produced += 1
                position += stepWhole
                fraction += stepFraction
                if fraction >= 1 {
                    fraction -= 1
                    position += 1
                }
            }
        }
        return produced
    }

    /// Forgets the input that no output needs any more.
    private func makeRoom() {
        let spent = min(held, position - half + 1)
        guard spent >= Self.block / 2 || held == history.frameCapacity, spent > 0 else { return }
        for c in 0..<channelCount {
            (history.channels[c]).update(from: history.channels[c] + spent, count: held - spent)
        }
        held -= spent
        position -= spent
    }
}
