// SPDX-License-Identifier: Apache-2.0

/// The lag at which a track is found in another sound, by the correlation of the differences of neighbouring samples: these do not
/// prefer low tones, whose correlation has a broad top.
public struct TrackLag: Sendable, CustomStringConvertible {
    /// The frames by which the track is late.
    public let frames: Int
    /// 1 if the sound is the track, at any level.
    public let correlation: Float

    /// Finds a part of a track.
    /// - Parameters:
    ///   - track: the part with its indices.
    ///   - sound: has the track from `first` on if the lag is 0.
    ///   - lags: the lags to compare.
    public init(
        of track: ArraySlice<Float>, in sound: [Float], from first: Int = 0, lags: ClosedRange<Int> = -100...100
    ) {
        var best = (frames: lags.lowerBound, correlation: -Float.infinity)
        for lag in lags {
            var (products, trackSquares, soundSquares): (Float, Float, Float) = (0, 1e-20, 1e-20)
            for i in track.indices.dropFirst() {
                let place = first + i + lag
                guard place > 0, place < sound.count else { continue }
                let (a, b) = (track[i] - track[i - 1], sound[place] - sound[place - 1])
                products += a * b
                trackSquares += a * a
                soundSquares += b * b
            }
            let correlation = products / (trackSquares * soundSquares).squareRoot()
            if correlation > best.correlation { best = (lag, correlation) }
        }
        (frames, correlation) = best
    }

    /// Both values.
    public var description: String { "\(frames) frames (correlation \(correlation))" }
}
