import AudioBase

/// Something as uneven as speech: noise below about 4 kHz at 48 kHz, louder and softer each 40 ms. Frame `n`, from 0, is the
/// same whenever asked, and another `voice` says something else.
package func murmur(_ n: Int, voice: UInt64 = 0) -> Float {
    Murmur(voice: voice).value(loudness: n / Murmur.loudnessFrames, of: n, curve: n / Murmur.curveFrames)
}

/// The same by blocks: two lines through random points, of which one is the loudness of the other.
struct Murmur {
    static let loudnessFrames = 1_920
    static let curveFrames = 6
    private let voice: UInt64

    init(voice: UInt64) { self.voice = voice }

    /// Writes frames from `first` on, which is 0 or more.
    func fill(_ samples: UnsafeMutablePointer<Float>, from first: Int, count: Int) {
        var curve = -1
        var (a, b) = (Float(0), Float(0))
        var loud = -1
        var (c, d) = (Float(0), Float(0))
        for n in first..<first + count {
            if n / Self.curveFrames != curve {
                let next = n / Self.curveFrames
                a = next == curve + 1 && curve >= 0 ? b : point(next, salt: 2)
                b = point(next + 1, salt: 2)
                curve = next
            }
            if n / Self.loudnessFrames != loud {
                loud = n / Self.loudnessFrames
                (c, d) = (point(loud, salt: 1), point(loud + 1, salt: 1))
            }
            samples[n - first] = Self.sample(n, (c, d), (a, b))
        }
    }

    func value(loudness: Int, of n: Int, curve: Int) -> Float {
        Self.sample(
            n, (point(loudness, salt: 1), point(loudness + 1, salt: 1)),
            (point(curve, salt: 2), point(curve + 1, salt: 2)))
    }

    private static func sample(_ n: Int, _ loudness: (Float, Float), _ curve: (Float, Float)) -> Float {
        let loud = line(n, loudnessFrames, loudness)
        return 0.6 * loud * loud * (2 * line(n, curveFrames, curve) - 1)
    }

    private static func line(_ n: Int, _ length: Int, _ ends: (Float, Float)) -> Float {
        let share = Float(n % length) / Float(length)
        return ends.0 * (1 - share) + ends.1 * share
    }

    /// Uniform in 0 ..< 1.
    private func point(_ k: Int, salt: UInt64) -> Float {
        var random = SeededRandom(
            seed: (UInt64(bitPattern: Int64(k)) &+ (salt &+ voice) << 40) &* 0x2545_F491_4F6C_DD1D)
        return Float(random.unit())
    }
}
