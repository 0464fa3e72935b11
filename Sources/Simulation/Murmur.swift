import AudioBase

/// Something as uneven as speech: noise below about 4 kHz at 48 kHz, louder and softer each 40 ms. Frame `n`, from 0, is the
/// same whenever asked, and another `voice` says something else.
package func murmur(_ n: Int, voice: UInt64 = 0) -> Float {
    Murmur(voice: voice).value(at: n)
}

/// The same by blocks: two lines through random points, of which one is the loudness of the other.
struct Murmur {
    static let loudnessFrames = 1_920
    static let curveFrames = 6
    private let voice: UInt64

    init(voice: UInt64) { self.voice = voice }

    /// Writes frames from `first` on, which is 0 or more.
    func fill(_ samples: UnsafeMutablePointer<Float>, from first: Int, count: Int) {
        var curve = first / Self.curveFrames
        var place = first - curve * Self.curveFrames
        var (a, b) = (point(curve, salt: 2), point(curve + 1, salt: 2))
        var loud = first / Self.loudnessFrames
        var loudPlace = first - loud * Self.loudnessFrames
        var (c, d) = (point(loud, salt: 1), point(loud + 1, salt: 1))
        for i in 0..<count {
            let loudness = Self.line(loudPlace, Self.loudnessFrames, (c, d))
            samples[i] = Self.sample(loudness, Self.line(place, Self.curveFrames, (a, b)))
            place += 1
            if place == Self.curveFrames {
                place = 0
                curve += 1
                (a, b) = (b, point(curve + 1, salt: 2))
            }
            loudPlace += 1
            if loudPlace == Self.loudnessFrames {
                loudPlace = 0
                loud += 1
                (c, d) = (d, point(loud + 1, salt: 1))
            }
        }
    }

    /// One frame.
    func value(at n: Int) -> Float {
        func line(_ length: Int, _ salt: UInt64) -> Float {
            Self.line(n % length, length, (point(n / length, salt: salt), point(n / length + 1, salt: salt)))
        }
        return Self.sample(line(Self.loudnessFrames, 1), line(Self.curveFrames, 2))
    }

    private static func sample(_ loudness: Float, _ curve: Float) -> Float {
        0.6 * loudness * loudness * (2 * curve - 1)
    }

    private static func line(_ place: Int, _ length: Int, _ ends: (Float, Float)) -> Float {
        let share = Float(place) / Float(length)
        return ends.0 * (1 - share) + ends.1 * share
    }

    /// Uniform in 0 ..< 1.
    private func point(_ k: Int, salt: UInt64) -> Float {
        var random = SeededRandom(
            seed: (UInt64(bitPattern: Int64(k)) &+ (salt &+ voice) << 40) &* 0x2545_F491_4F6C_DD1D)
        return Float(random.unit())
    }
}
