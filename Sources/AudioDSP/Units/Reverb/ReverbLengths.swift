// SPDX-License-Identifier: Apache-2.0

import CEarshotRealtime
import EarshotAudioBase

/// The lengths of a room's sixteen lines and 24 all-passes: prime numbers of frames proportional to its size.
///
/// The lines spread over a factor of four around the mean time between two reflections. The all-passes stop growing at
/// ``fullDiffusion``: longer ones would leave gaps. Primes, so that no two echoes coincide for long (M. R. Schroeder, "Natural
/// Sounding Artificial Reverberation", JAES 10, 1962).
struct ReverbLengths: BitwiseCopyable {
    /// The present lengths, and those being faded to: 16 lines, then six stages of 4 all-passes.
    let current: UnsafeMutablePointer<Int>
    let next: UnsafeMutablePointer<Int>
    /// The maximum lengths of a line and an all-pass.
    let longestLine: Int
    let longestDiffuser: Int
    /// The longest path through the all-passes, each once.
    let diffuserMemory: Int
    private let composite: UnsafeMutablePointer<UInt8>
    private let seconds: UnsafeMutablePointer<Double>  // for each metre
    private let sampleRate: Double
    private static var fullDiffusion: Double { @_noLocks get { 11 } }  // metres

    /// - Parameter largest: the maximum size in metres.
    init(sampleRate: Double, largest: Double) {
        self.sampleRate = sampleRate
        seconds = .allocate(capacity: 40)
        // Evenly spread logarithms, each slightly shifted: by a random search for the most even modes.
        let offsets = [
            0.24, -0.3, -0.44, 0.1, 0.4, -0.47, 0.31, -0.31, -0.41, -0.48, -0.21, 0.23, -0.01, 0.35, -0.28, -0.18,
        ]
        // All-passes in milliseconds in a room of 30 m; no two with a common divisor.
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
        let bound = Int(largest * seconds[15] * sampleRate) + 400
        composite = .allocate(capacity: bound)
        composite.initialize(repeating: 0, count: bound)
        for p in 2..<bound where composite[p] == 0 {
            var multiple = p * p
            while multiple < bound {
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
            var most = 0.0
            for c in 0..<4 { most = max(most, seconds[16 + 4 * stage + c]) }
            longest = Int(Self.fullDiffusion * most * sampleRate) + 150
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
        var last = ReverbGeometry.chunk
        for i in 0..<16 {
            last = prime(from: max(last &+ 1, Int(frames * seconds[i])))
            next[i] = last
        }
        let diffuse = min(frames, Self.fullDiffusion * sampleRate)
        for i in 0..<24 {
            // At low rates and in small rooms the piece's length is the limit.
            let least = ReverbGeometry.chunk &+ 6 &* (i & 3) &+ 11 &* (i >> 2)
            next[16 &+ i] = prime(from: max(least, Int(diffuse * seconds[16 &+ i])))
        }
    }

    /// Makes the new lengths the present ones.
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
