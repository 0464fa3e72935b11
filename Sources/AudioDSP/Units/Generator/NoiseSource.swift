// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime

/// White and pink noise, different in each channel, the same for the same seed.
///
/// White noise is made by SplitMix64 (Steele, Lea and Flood, 2014), uniform in ±1. Pink noise is white noise filtered by eight
/// poles and eight zeros. They alternate at equal distances on a logarithmic frequency axis (as in the ladder of an RC network
/// that approximates 1/√s), two of each in four octaves. The top pole and zero are placed such that the sampled spectrum is
/// straight up to 0.48 of the rate, within 0.2 dB. The lowest pole is at 1.5 · 10⁻⁵ of the rate, 0.7 Hz at 48 kHz; below it the
/// spectrum is flat. The RMS of pink noise is a quarter, so that peaks seldom reach 1.
struct NoiseSource: ~Copyable {
    private static var poleCount: Int { @_noLocks get { 8 } }
    private let channelCount: Int
    private let whites: UnsafeMutablePointer<UInt64>  // each channel's generator of white noise
    private let pinks: UnsafeMutablePointer<UInt64>  // each channel's generator of the noise that is filtered
    private let states: UnsafeMutablePointer<Float>  // of eight one-pole filters for each channel
    private let poles: UnsafeMutablePointer<Float>  // the factor of each filter's last state
    private let gains: UnsafeMutablePointer<Float>  // the weight of each filter in the sum
    private let direct: Float  // the weight of the unfiltered noise in the sum
    private var seed = -1

    init(channelCount: Int) {
        self.channelCount = channelCount
        let count = Self.poleCount
        whites = .allocate(capacity: channelCount)
        whites.initialize(repeating: 0, count: channelCount)
        pinks = .allocate(capacity: channelCount)
        pinks.initialize(repeating: 0, count: channelCount)
        states = .allocate(capacity: channelCount * count)
        states.initialize(repeating: 0, count: channelCount * count)
        poles = .allocate(capacity: count)
        gains = .allocate(capacity: count)
        var a = [Double](repeating: 0.11, count: count)  // poles
        var b = [Double](repeating: -0.15, count: count)  // zeros
        for k in 1..<count {
            b[k] = earshot_exp(-Double.pi / earshot_pow(4, Double(k)))
            a[k] = earshot_exp(-Double.pi / earshot_pow(4, Double(k)) / 2)
        }
        // The product of all poles and zeros is converted to a sum of one-pole filters, by partial fractions.
        var directPart = 1.0
        for k in 0..<count { directPart *= b[k] / a[k] }
        var parts = [Double](repeating: 1, count: count)
        for k in 0..<count {
            for j in 0..<count {
                parts[k] *= 1 - b[j] / a[k]
                if j != k { parts[k] /= 1 - a[j] / a[k] }
            }
        }
        // The energy of the filter's impulse response is the filter's gain in power.
        var energy = directPart * directPart
        for k in 0..<count {
            energy += 2 * directPart * parts[k]
            for j in 0..<count { energy += parts[k] * parts[j] / (1 - a[k] * a[j]) }
        }
        let scale = 0.25 / (energy / 3).squareRoot()  // uniform noise has a mean square of a third
        for k in 0..<count {
            (poles + k).initialize(to: Float(a[k]))
            (gains + k).initialize(to: Float(parts[k] * scale))
        }
        direct = Float(directPart * scale)
    }

    deinit {
        whites.deallocate()
        pinks.deallocate()
        states.deallocate()
        poles.deallocate()
        gains.deallocate()
    }

    /// Restarts the random numbers of white and pink noise if the seed has changed.
    @_noLocks
    mutating func seed(_ seed: Int) {
        guard seed != self.seed else { return }
        self.seed = seed
        restartWhite()
        for c in 0..<channelCount { pinks[c] = state(c, 1) }
    }

    @_noLocks
    mutating func restartWhite() { for c in 0..<channelCount { whites[c] = state(c, 0) } }

    @_noLocks
    mutating func restartPink() {
        for c in 0..<channelCount { pinks[c] = state(c, 1) }
        for k in 0..<channelCount &* Self.poleCount { states[k] = 0 }
    }

    /// Returns the initial state of a channel's generator for white (`kind` 0) or pink noise (1). The seed is scrambled, so that
    /// all states are far from each other.
    @_noLocks
    private func state(_ channel: Int, _ kind: Int) -> UInt64 {
        var state = UInt64(truncatingIfNeeded: (seed &* 32 &+ channel) &* 2 &+ kind)
        return Self.next(&state)
    }

    @_noLocks @inline(__always)
    private static func next(_ state: inout UInt64) -> UInt64 {
        state = state &+ 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    /// Returns the top 24 bits of the next random number, which fit a float, as a value from −1 to 1.
    @_noLocks @inline(__always)
    private static func uniform(_ state: inout UInt64) -> Float {
        (Float(Int(truncatingIfNeeded: next(&state) >> 40)) - 8_388_607.5) / 8_388_608
    }

    @_noLocks
    mutating func white(_ channel: Int) -> Float { Self.uniform(&whites[channel]) }

    @_noLocks
    mutating func pink(_ channel: Int) -> Float {
        let x = Self.uniform(&pinks[channel])
        let state = states + channel &* Self.poleCount
        let low = load4(state) * load4(poles) + SIMD4(repeating: x)
        let high = load4(state + 4) * load4(poles + 4) + SIMD4(repeating: x)
        store4(low, state)
        store4(high, state + 4)
        let s = low * load4(gains) + high * load4(gains + 4)
        return (s[0] + s[1]) + (s[2] + s[3]) + direct * x
    }
}
