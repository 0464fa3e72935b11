// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// Returns a synthetic sound as uneven as speech: noise below about 4 kHz at 48 kHz, with another level every 40 ms. Frame `n`,
/// from 0, is always the same; each `voice` differs.
package func speechLikeNoise(_ n: Int, voice: UInt64 = 0) -> Float {
    SpeechLikeNoise(voice: voice).value(at: n)
}

/// The same sound by blocks: a line through random points, scaled by another one.
struct SpeechLikeNoise {
    static let loudnessFrames = 1_920
    static let curveFrames = 6
    private let voice: UInt64

    init(voice: UInt64) { self.voice = voice }

    /// Writes frames from `first` on, which is at least 0: the levels of all first, then the curve.
    func fill(_ samples: UnsafeMutablePointer<Float>, from first: Int, count: Int) {
        pieces(first, count, Self.loudnessFrames, salt: 1) { at, place, frames, ends in
            for i in 0..<frames { samples[at + i] = Self.volume(Self.line(place + i, Self.loudnessFrames, ends)) }
        }
        pieces(first, count, Self.curveFrames, salt: 2) { at, place, frames, ends in
            for i in 0..<frames { samples[at + i] *= Self.swing(Self.line(place + i, Self.curveFrames, ends)) }
        }
    }

    /// Divides frames at the points of a line, and passes the position in the block and on the line, the number of frames, and
    /// the line's ends.
    @inline(__always)
    private func pieces(
        _ first: Int, _ count: Int, _ length: Int, salt: UInt64, _ body: (Int, Int, Int, (Float, Float)) -> Void
    ) {
        var number = first / length
        var place = first - number * length
        var start = point(number, salt: salt)
        var done = 0
        while done < count {
            let end = point(number + 1, salt: salt)
            let frames = min(count - done, length - place)
            body(done, place, frames, (start, end))
            (number, start, place) = (number + 1, end, 0)
            done += frames
        }
    }

    /// Returns one frame.
    func value(at n: Int) -> Float {
        func line(_ length: Int, _ salt: UInt64) -> Float {
            Self.line(n % length, length, (point(n / length, salt: salt), point(n / length + 1, salt: salt)))
        }
        return Self.volume(line(Self.loudnessFrames, 1)) * Self.swing(line(Self.curveFrames, 2))
    }

    private static func volume(_ loudness: Float) -> Float { 0.6 * loudness * loudness }

    private static func swing(_ curve: Float) -> Float { 2 * curve - 1 }

    private static func line(_ place: Int, _ length: Int, _ ends: (Float, Float)) -> Float {
        let share = Float(place) / Float(length)
        return ends.0 * (1 - share) + ends.1 * share
    }

    /// Returns a uniform number in 0 ..< 1.
    private func point(_ k: Int, salt: UInt64) -> Float {
        var random = SeededRandom(
            seed: (UInt64(bitPattern: Int64(k)) &+ (salt &+ voice) << 40) &* 0x2545_F491_4F6C_DD1D)
        return Float(random.unit())
    }
}
