// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime

/// The filter that a rigid sphere applies to a distant sound at a point on the sphere, by the angle between that point and the
/// source: a delay and an impulse response.
///
/// The delay is the straight or creeping path of Woodworth (Experimental Psychology, 1938, p. 520). The impulse response has the
/// magnitude of the analytic solution (Kuhn, J. Acoust. Soc. Am. 62, 1977, p. 157; Duda and Martens, J. Acoust. Soc. Am. 104,
/// 1998, p. 3048) and its minimum phase. The delays between two points thus differ as on a sphere, too: by Woodworth's formula
/// for short waves, by up to 3/2 of that for waves longer than the head.
struct SphericalHead: BitwiseCopyable {
    /// The radius in metres.
    static var radius: Double { @_noLocks get { 0.0875 } }
    /// The speed of sound in metres a second.
    static var speedOfSound: Double { @_noLocks get { 343 } }
    /// The number of angles with a computed response, from 0° to 180°, 2.5° apart.
    private static var angleCount: Int { @_noLocks get { 73 } }

    /// The taps of each response; a multiple of four.
    let tapCount: Int
    private let framesPerRadius: Double
    private let responses: UnsafeMutablePointer<Float>  // of all angles, each with its last tap first

    /// Computes all responses. Control thread; ``free()`` frees them.
    init(sampleRate: Double) {
        // 1.33 ms: sound diffracted around the far side has arrived by then.
        let tapCount = max(16, (Int(sampleRate / 750) + 3) / 4 * 4)
        self.tapCount = tapCount
        framesPerRadius = Self.radius / Self.speedOfSound * sampleRate
        responses = .allocate(capacity: Self.angleCount * tapCount)
        let logMagnitudes = Self.logMagnitudes(sampleRate: sampleRate, tapCount: tapCount)
        let size = (logMagnitudes[0].count - 1) * 2
        let cosines = (0..<size).map { earshot_cos(2 * Double.pi * Double($0) / Double(size)) }
        for (angle, logMagnitude) in logMagnitudes.enumerated() {
            let response = Self.minimumPhase(logMagnitude, count: tapCount, cosines: cosines)
            for k in 0..<tapCount { responses[(angle + 1) * tapCount - 1 - k] = Float(response[k]) }
        }
    }

    /// Frees the memory. Control thread.
    func free() { responses.deallocate() }

    /// Returns the frames by which sound reaches the point later than it would reach the sphere's centre without the sphere;
    /// negative on the near side, with a continuous slope.
    /// - Parameter angle: between the point and the source, 0 to π.
    @_noLocks
    func delay(angle: Double) -> Double {
        angle < Double.pi / 2
            ? -framesPerRadius * earshot_cos(angle) : framesPerRadius * (angle - Double.pi / 2)
    }

    /// Writes the impulse response for an angle, times a gain; the last of the ``tapCount`` taps comes first.
    /// - Parameter angle: between the point and the source, 0 to π.
    @_noLocks
    func write(angle: Double, gain: Float, to taps: UnsafeMutablePointer<Float>) {
        let place = angle / Double.pi * Double(Self.angleCount - 1)
        let below = max(0, min(Int(place), Self.angleCount - 2))
        let part = Float(place - Double(below))
        let a = responses + below * tapCount
        let b = a + tapCount
        for k in 0..<tapCount { taps[k] = (a[k] + (b[k] - a[k]) * part) * gain }
    }

    /// Returns the logarithms of the sphere's magnitude response in nepers: for each angle, at evenly spaced frequencies from 0
    /// to half the rate.
    private static func logMagnitudes(sampleRate: Double, tapCount: Int) -> [[Double]] {
        var size = 128
        while size < 8 * tapCount { size *= 2 }
        let highest = 2 * Double.pi * 24_000 * radius / speedOfSound
        let orders = termCount(highest)
        let polynomials = (0..<angleCount).map {
            legendre(earshot_cos(Double.pi * Double($0) / Double(angleCount - 1)), count: orders)
        }
        var result = [[Double]](repeating: [Double](repeating: 0, count: size / 2 + 1), count: angleCount)
        for bin in 1...size / 2 {
            let hertz = Double(bin) / Double(size) * sampleRate
            // Inaudible frequencies are not computed, but get the value of the highest audible one.
            if hertz > 24_000 {
                for angle in 0..<angleCount { result[angle][bin] = result[angle][bin - 1] }
                continue
            }
            let terms = seriesTerms(2 * Double.pi * hertz * radius / speedOfSound)
            for angle in 0..<angleCount {
                var real = 0.0
                var imaginary = 0.0
                for n in 0..<terms.count {
                    real += terms[n].real * polynomials[angle][n]
                    imaginary += terms[n].imaginary * polynomials[angle][n]
                }
                result[angle][bin] = max(-6.9, earshot_log(real * real + imaginary * imaginary) / 2)
            }
        }
        return result
    }

    /// Returns the number of terms after which the series has converged; `x` is the wavenumber times the radius.
    private static func termCount(_ x: Double) -> Int { Int(x + 12 + 4 * earshot_pow(x, 1.0 / 3)) }

    /// Returns (2n + 1) iⁿ / (x² h′ₙ(x)), the factors of the Legendre polynomials in the pressure on a rigid sphere in a plane
    /// wave.
    private static func seriesTerms(_ x: Double) -> [(real: Double, imaginary: Double)] {
        // h = j − iy by upward recurrence, which is stable because y grows and dominates it.
        var j = (earshot_sin(x) / x, earshot_sin(x) / (x * x) - earshot_cos(x) / x)
        var y = (-earshot_cos(x) / x, -earshot_cos(x) / (x * x) - earshot_sin(x) / x)
        return (0..<termCount(x)).map { n in
            // h′ₙ = (n / x) hₙ − hₙ₊₁
            let real = Double(n) / x * j.0 - j.1
            let imaginary = -(Double(n) / x * y.0 - y.1)
            let scale = Double(2 * n + 1) / (x * x * (real * real + imaginary * imaginary))
            j = (j.1, Double(2 * n + 3) / x * j.1 - j.0)
            y = (y.1, Double(2 * n + 3) / x * y.1 - y.0)
            // The quotient's conjugate, rotated by n right angles.
            switch n % 4 {
            case 0: return (real * scale, -imaginary * scale)
            case 1: return (imaginary * scale, real * scale)
            case 2: return (-real * scale, imaginary * scale)
            default: return (-imaginary * scale, -real * scale)
            }
        }
    }

    private static func legendre(_ x: Double, count: Int) -> [Double] {
        var p = [1, x]
        for n in 1..<count { p.append((Double(2 * n + 1) * x * p[n] - Double(n) * p[n - 1]) / Double(n + 1)) }
        return p
    }

    /// Returns the first `count` taps of the minimum-phase impulse response with this magnitude response. They are computed from
    /// its cepstrum (Oppenheim and Schafer, Discrete-Time Signal Processing, on the recursion between both), and faded out over
    /// the last quarter.
    private static func minimumPhase(_ logMagnitude: [Double], count: Int, cosines: [Double]) -> [Double] {
        let half = logMagnitude.count - 1
        let size = 2 * half
        let cepstrum = (0..<count).map { k in
            var sum = logMagnitude[0] + (k % 2 == 0 ? 1 : -1) * logMagnitude[half]
            var cosineIndex = 0
            for bin in 1..<half {
                cosineIndex = (cosineIndex + k) & (size - 1)
                sum += 2 * logMagnitude[bin] * cosines[cosineIndex]
            }
            return (k == 0 ? 1 : 2) * sum / Double(size)
        }
        var response = [earshot_exp(cepstrum[0])]
        for n in 1..<count {
            var sum = 0.0
            for k in 1...n { sum += Double(k) * cepstrum[k] * response[n - k] }
            response.append(sum / Double(n))
        }
        let fade = count / 4
        for i in 0..<fade {
            response[count - fade + i] *= 0.5 + 0.5 * earshot_cos(Double.pi * (Double(i) + 0.5) / Double(fade))
        }
        return response
    }
}
