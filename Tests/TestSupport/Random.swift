/// A seeded generator (SplitMix64, Steele, Lea and Flood 2014), so that a failing run can be had again.
public struct SeededRandom: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// The same seed gives the same numbers.
    public init(seed: UInt64) { state = seed }

    /// The next of the sequence.
    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    /// Uniform in 0 ..< 1.
    public mutating func unit() -> Double { Double(next() >> 11) / Double(1 << 53) }
}
