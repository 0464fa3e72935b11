// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime
import EarshotAudioBase

/// The lengths of a room's sixteen delay lines and 24 all-passes: prime numbers of frames, about proportional to the room's size.
///
/// The lines spread over a factor of four around the mean time between two reflections. The all-passes stop growing at a
/// size of ``fullDiffusion``: longer ones would leave gaps. The lengths are primes, so that no two echoes coincide for long (M.
/// R. Schroeder, "Natural Sounding Artificial Reverberation", JAES 10, 1962).
struct ReverbLengths: BitwiseCopyable {
    /// The present lengths in frames, and those that are being faded to: of 16 lines, then of six stages of 4 all-passes.
    let current: UnsafeMutablePointer<Int>
    let next: UnsafeMutablePointer<Int>
    /// The maximum lengths of a line and of an all-pass, in frames.
    let longestLine: Int
    let longestDiffuser: Int
    /// The frames of the longest path through a chain's six all-passes, each passed once.
    let diffuserMemory: Int
    private let composite: UnsafeMutablePointer<UInt8>  // 0 for primes, otherwise 1
    private let seconds: UnsafeMutablePointer<Double>  // each length for a room of one metre
    private let sampleRate: Double
    private static var fullDiffusion: Double { @_noLocks get { 11 } }  // metres

    /// - Parameter largest: the maximum size in metres.
    init(sampleRate: Double, largest: Double) {
        self.sampleRate = sampleRate
        seconds = .allocate(capacity: 40)
        // The logarithms of the lines' lengths are evenly spread, each slightly shifted. A random search found the shifts with
        // the most even modes.
        let offsets = [
            0.24, -0.3, -0.44, 0.1, 0.4, -0.47, 0.31, -0.31, -0.41, -0.48, -0.21, 0.23, -0.01, 0.35, -0.28, -0.18,
        ]
        // The lengths of the all-passes in milliseconds, in a room of 30 m; no two have a common divisor.
        let times = [
            0.97, 1.13, 0.83, 1.27, 1.83, 2.03, 1.69, 2.27, 3.31, 3.79, 2.97, 4.13, 6.71, 6.09, 7.57, 6.97, 12.13,
            13.91,
            11.57, 13.09, 21.37, 19.13, 23.41, 20.57,
        ]
        for i in 0..<16 {
            let place = (Double(i) + offsets[i] * 0.9) / 15
            (seconds + i).initialize(to: earshot_exp(earshot_log(4) * (place - 0.5)) * 1.1 / 343)
        }
        for i in 0..<24 { (seconds + 16 + i).initialize(to: times[i] / 1000 / 30) }
        let sieveCount = Int(largest * seconds[15] * sampleRate) + 400
        composite = .allocate(capacity: sieveCount)
        composite.initialize(repeating: 0, count: sieveCount)
        for p in 2..<sieveCount where composite[p] == 0 {
            var multiple = p * p
            while multiple < sieveCount {
                composite[multiple] = 1
                multiple += p
            }
        }
        current = .allocate(capacity: 40)
        next = .allocate(capacity: 40)
        current.initialize(repeating: 0, count: 40)
        next.initialize(repeating: 0, count: 40)
        longestLine = Int(largest * seconds[15] * sampleRate) + 300
        var longest = 0
        var memory = 0
        for stage in 0..<6 {
            var longestSeconds = 0.0
            for c in 0..<4 { longestSeconds = max(longestSeconds, seconds[16 + 4 * stage + c]) }
            longest = Int(Self.fullDiffusion * longestSeconds * sampleRate) + 150
            memory += longest
        }
        longestDiffuser = longest
        diffuserMemory = memory
    }

    func deallocate() {
        current.deallocate()
        next.deallocate()
        composite.deallocate()
        seconds.deallocate()
    }

    /// Sets ``next`` to the lengths for a size in millimetres.
    @_noLocks
    func set(millimetres: Int) {
        let frames = Double(millimetres) / 1000 * sampleRate
        var previousLength = ReverbGeometry.chunk
        for i in 0..<16 {
            previousLength = prime(from: max(previousLength &+ 1, Int(frames * seconds[i])))
            next[i] = previousLength
        }
        let diffuse = min(frames, Self.fullDiffusion * sampleRate)
        for i in 0..<24 {
            // At low rates and in small rooms, the length of a piece is the lower limit.
            let minimumLength = ReverbGeometry.chunk &+ 6 &* (i & 3) &+ 11 &* (i >> 2)
            next[16 &+ i] = prime(from: max(minimumLength, Int(diffuse * seconds[16 &+ i])))
        }
    }

    /// Makes the lengths in ``next`` the present ones.
    @_noLocks
    func settle() {
        for i in 0..<40 { current[i] = next[i] }
    }

    /// Returns the smallest prime not below a number.
    @_noLocks
    private func prime(from n: Int) -> Int {
        var p = n
        while composite[p] != 0 { p &+= 1 }
        return p
    }
}
