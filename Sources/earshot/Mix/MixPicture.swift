// SPDX-License-Identifier: Apache-2.0

import EarshotDiagnostics
import EarshotLiveCall

/// The picture of `mix --picture`: the song and the voices above one another, and enlarged where they begin to sound together.
struct MixPicture {
    /// The seconds of the enlarged part, and those before the beginning of sound in it.
    private static let (enlargedTime, lead) = (0.4, 0.1)

    let source: MixSource
    let settings: MixSettings

    /// Draws the picture and writes it as a PNG file.
    /// - Parameter progress: is called with the completed part, 0 to 1. Returning false cancels.
    /// - Returns: false if it was cancelled.
    func write(to path: String, progress: (Double) -> Bool) throws -> Bool {
        let waveforms = MixWaveforms(source, settings)
        let columnCount = TracksPicture.columnCount
        let frameCount = max(waveforms.frameCount, columnCount)
        var isCancelled = false
        func columns(_ frames: Range<Int>) -> [[ClosedRange<Float>?]] {
            waveforms.columns(frames, count: columnCount) { part in
                isCancelled = isCancelled || !progress(part)
                return !isCancelled
            }
        }
        // A song is drawn first, wherever its track is.
        let order = source.voices.indices.sorted { a, b in
            source.voices[a].isSong && !source.voices[b].isSong
        }
        func panel(_ frames: Range<Int>) -> TracksPicture.Panel {
            let columns = columns(frames)
            let seconds =
                Double(frames.lowerBound) / source.sampleRate...Double(frames.upperBound) / source.sampleRate
            return .init(
                seconds: seconds, columns: order.compactMap { columns.indices.contains($0) ? columns[$0] : nil })
        }
        let whole = panel(0..<frameCount)
        var enlarged: TracksPicture.Panel?
        let length = max(columnCount, Int(Self.enlargedTime * source.sampleRate))
        if frameCount > 4 * length, !isCancelled {
            let onset = frameCount / columnCount * Self.commonOnset(whole.columns)
            let start = min(max(0, onset - Int(Self.lead * source.sampleRate)), frameCount - length)
            enlarged = panel(start..<start + length)
        }
        if isCancelled { return false }
        let gaps = waveforms.gaps
        let tracks = order.map { index in
            TracksPicture.Track(
                name: TerminalText.sanitizedLine(source.voices[index].name), gaps: gaps[index],
                isReference: source.voices[index].isSong)
        }
        let picture = TracksPicture(
            title: TerminalText.sanitizedLine(source.room), tracks: tracks, whole: whole, enlarged: enlarged)
        try Failure.creating { try picture.write(to: path) }
        return true
    }

    /// Returns the column in which the level of all tracks rises most.
    private static func commonOnset(_ tracks: [[ClosedRange<Float>?]]) -> Int {
        let levels = tracks.map { track -> [Float] in
            let levels = track.map { max($0?.upperBound ?? 0, -($0?.lowerBound ?? 0)) }
            let peak = max(levels.max() ?? 0, 1e-6)
            return levels.map { $0 / peak }
        }
        func rise(_ column: Int) -> Float { levels.map { $0[column] - $0[column - 1] }.min() ?? 0 }
        let count = levels.map(\.count).min() ?? 0
        return count < 2 ? 0 : (1..<count).max { rise($0) < rise($1) } ?? 0
    }
}
