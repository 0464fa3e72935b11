// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// Returns a sample of synthetic sound whose level varies like that of speech: at 48 kHz, noise below about 4 kHz with a new
/// random level every 40 ms. Frame `n`, from 0, always has the same sample; another `voice` has other samples.
package func speechLikeNoise(_ n: Int, voice: UInt64 = 0) -> Float {
    SpeechLikeNoise(voice: voice).value(at: n)
}

/// The sound of ``speechLikeNoise(_:voice:)`` in blocks: a line through random points, multiplied by a slower line for the
/// loudness.
struct SpeechLikeNoise {
    /// The frames between two random points of the loudness.
    static let loudnessFrames = 1_920
    /// The frames between two random points of the curve.
    static let curveFrames = 6
    private let voice: UInt64

    init(voice: UInt64) { self.voice = voice }

    /// Writes `count` frames, beginning with frame `first`, at least 0: first the loudness of all frames, then multiplied by the
    /// curve.
    func fill(_ samples: UnsafeMutablePointer<Float>, from first: Int, count: Int) {
        pieces(first, count, Self.loudnessFrames, salt: 1) { index, position, frames, ends in
            for i in 0..<frames { samples[index + i] = Self.volume(Self.line(position + i, Self.loudnessFrames, ends)) }
        }
        pieces(first, count, Self.curveFrames, salt: 2) { index, position, frames, ends in
            for i in 0..<frames { samples[index + i] *= Self.swing(Self.line(position + i, Self.curveFrames, ends)) }
        }
    }

    /// Divides a block into pieces at the random points of a line. Passes to `body`, for each piece, its first frame in the
    /// block, the frames since the last point, its number of frames, and the values of both points.
    @inline(__always)
    private func pieces(
        _ first: Int, _ count: Int, _ length: Int, salt: UInt64, _ body: (Int, Int, Int, (Float, Float)) -> Void
    ) {
        var pointNumber = first / length
        var position = first - pointNumber * length
        var start = point(pointNumber, salt: salt)
        var doneFrames = 0
        while doneFrames < count {
            let end = point(pointNumber + 1, salt: salt)
            let frames = min(count - doneFrames, length - position)
            body(doneFrames, position, frames, (start, end))
            (pointNumber, start, position) = (pointNumber + 1, end, 0)
            doneFrames += frames
        }
    }

    /// Returns the sample of frame `n`.
    func value(at n: Int) -> Float {
        func line(_ length: Int, _ salt: UInt64) -> Float {
            Self.line(n % length, length, (point(n / length, salt: salt), point(n / length + 1, salt: salt)))
        }
        return Self.volume(line(Self.loudnessFrames, 1)) * Self.swing(line(Self.curveFrames, 2))
    }

    private static func volume(_ loudness: Float) -> Float { 0.6 * loudness * loudness }

    private static func swing(_ curve: Float) -> Float { 2 * curve - 1 }

    private static func line(_ position: Int, _ length: Int, _ ends: (Float, Float)) -> Float {
        let share = Float(position) / Float(length)
        return ends.0 * (1 - share) + ends.1 * share
    }

    /// Returns random point `k` of a line, uniform in 0 ..< 1.
    private func point(_ k: Int, salt: UInt64) -> Float {
        var random = SeededRandom(
            seed: (UInt64(bitPattern: Int64(k)) &+ (salt &+ voice) << 40) &* 0x2545_F491_4F6C_DD1D)
        return Float(random.unit())
    }
}
