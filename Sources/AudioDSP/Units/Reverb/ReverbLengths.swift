import AudioBase
import CRealtime

/// How long the sixteen lines are: prime numbers of frames, spread over a factor of three around the mean free path of a
/// room. Primes, so that no two lines' echoes coincide for long (M. R. Schroeder, "Natural Sounding Artificial
/// Reverberation", JAES 10, 1962).
struct ReverbLengths: BitwiseCopyable {
    static var count: Int { @_noLocks get { 16 } }
    /// Lengths that are heard, and those that are faded to; 16 each.
    let current: UnsafeMutablePointer<Int>
    let next: UnsafeMutablePointer<Int>
    /// The longest there can be.
    let longest: Int
    private let composite: UnsafeMutablePointer<UInt8>
    private let proportions: UnsafeMutablePointer<Double>  // of the mean
    private let framesPerMetre: Double

    /// - Parameter largest: metres, the greatest size.
    init(sampleRate: Double, largest: Double) {
        framesPerMetre = sampleRate / 343
        proportions = .allocate(capacity: 16)
        // Evenly spread in their logarithm, each a little off its place.
        let offsets = [
            0.31, -0.22, 0.05, -0.37, 0.28, 0.12, -0.3, 0.36, -0.11, 0.2, -0.4, 0.02, 0.39, -0.18, 0.25, -0.05,
        ]
        for i in 0..<16 {
            let place = (Double(i) + offsets[i] * 0.9) / 15
            (proportions + i).initialize(to: earshot_exp(earshot_log(3) * (place - 0.5)) * 0.95)
        }
        let bound = Int(largest * framesPerMetre * 2) + 400
        composite = .allocate(capacity: bound)
        composite.initialize(repeating: 0, count: bound)
        for p in 2..<bound where composite[p] == 0 {
            var multiple = p * p
            while multiple < bound {
                composite[multiple] = 1
                multiple += p
            }
        }
        current = .allocate(capacity: 16)
        next = .allocate(capacity: 16)
        current.initialize(repeating: 0, count: 16)
        next.initialize(repeating: 0, count: 16)
        longest = Int(largest * framesPerMetre * 1.75) + 200
        set(size: Float(largest))
        precondition(next[15] < longest)
    }

    func deallocate() {
        current.deallocate()
        next.deallocate()
        composite.deallocate()
        proportions.deallocate()
    }

    /// Sets ``next`` to the lengths for a size in metres.
    @_noLocks
    func set(size: Float) {
        var last = 0
        for i in 0..<16 {
            last = prime(from: max(last &+ 1, Int(Double(size) * framesPerMetre * proportions[i])))
            next[i] = last
        }
    }

    /// Those faded to are those heard.
    @_noLocks
    func settle() {
        for i in 0..<16 { current[i] = next[i] }
    }

    /// The smallest prime not below a number.
    @_noLocks
    func prime(from n: Int) -> Int {
        var p = max(2, n)
        while composite[p] != 0 { p &+= 1 }
        return p
    }
}
