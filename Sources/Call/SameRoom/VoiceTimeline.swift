// SPDX-License-Identifier: Apache-2.0

/// Puts a played voice back on the timeline of its stream, for ``SameRoomDetector``.
///
/// Playout changes its delay by up to some milliseconds a second, above all in the first seconds of a call, and the lags of the
/// detector would change with it. A frame of the stream, in contrast, was captured at a constant distance from the other frames.
/// The detector needs lags that are constant to 0.1 ms over 4 s.
package struct VoiceTimeline {
    /// The longest part of the stream that playout left out, in seconds, which is filled with silence.
    private static let longestGap = 1.0

    private let sampleRate: Double
    private var block: [Float] = []
    private var blockPosition: Double?
    /// The position of the next output frame after the beginning of `block`, in frames.
    private var offset = 0.0

    /// - Parameter sampleRate: of the played sound, in hertz.
    package init(sampleRate: Double) { self.sampleRate = sampleRate }

    /// Adds the next played block. Returns the frames of the stream that precede it, one for each frame of the local device.
    /// - Parameters:
    ///   - samples: the played sound.
    ///   - position: the frame of the stream at which the block begins, at ``sampleRate``.
    ///   - drift: the rate of the sender's device clock relative to the local device's, less 1.
    package mutating func add(_ samples: [Float], at position: Double, drift: Double = 0) -> [Float] {
        defer { (block, blockPosition) = (samples, position) }
        guard let blockPosition, let next = samples.first, !block.isEmpty else { return [] }
        let length = (position - blockPosition) / (1 + drift)
        // Concealment repeats a position or goes back.
        guard length > 0 else { return [] }
        // The stream is played up to a half faster or slower. Beyond that, playout left a part out.
        let isGap = length > 2 * Double(block.count)
        if isGap, length > Self.longestGap * sampleRate {
            offset = 0
            return []
        }
        var frames: [Float] = []
        while offset < length {
            let place = offset / length * Double(block.count)
            let whole = min(Int(place), block.count - 1)
            let share = Float(place - Double(whole))
            let following = whole + 1 < block.count ? block[whole + 1] : next
            frames.append(isGap ? 0 : block[whole] + share * (following - block[whole]))
            offset += 1
        }
        offset -= length
        return frames
    }
}
