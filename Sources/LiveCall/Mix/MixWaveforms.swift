// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// Overviews of the tracks of a mix, for pictures. For one thread at a time; waits for the disk.
package final class MixWaveforms {
    private let readers: [TrackReader]
    private let shifts: [Int]
    private let source: MixSource

    /// The frames of the longest track.
    package let frameCount: Int

    /// Opens the tracks.
    /// - Parameter settings: those of the mix; each track is where its nudge moves it.
    package init(_ source: MixSource, _ settings: MixSettings) {
        self.source = source
        readers = source.voices.map {
            TrackReader($0.track, folder: source.folder, voice: $0.name, sampleRate: source.sampleRate)
        }
        shifts = settings.voices.map { $0.shift(sampleRate: source.sampleRate) }
        frameCount = zip(readers, shifts).map { $0.frameCount + $1 }.max() ?? 0
    }

    /// The seconds without sound, for each track, in order.
    package var gaps: [[ClosedRange<Double>]] {
        zip(source.voices, shifts).map { voice, shift in
            voice.track.gaps.compactMap { gap in
                let (frame, count) = (Double(gap.frame) + Double(shift), Double(gap.frameCount))
                guard count > 0 else { return nil }
                return frame / source.sampleRate...(frame + count) / source.sampleRate
            }
        }
    }

    /// Returns the least and greatest sample of each column, for each track, over all its channels. Columns without sound are nil.
    /// - Parameters:
    ///   - frames: the frames of the mix that are divided into columns; at least one per column.
    ///   - progress: is called with the completed part, 0 to 1. Returning false ends the reading early.
    package func columns(
        _ frames: Range<Int>, count columnCount: Int, progress: (Double) -> Bool = { _ in true }
    ) -> [[ClosedRange<Float>?]] {
        precondition(frames.count >= columnCount && columnCount > 0)
        let block = AudioBuffer(channelCount: 2, frameCapacity: Mixdown.sliceLength)
        var tracks: [[ClosedRange<Float>?]] = []
        for (index, (reader, shift)) in zip(readers, shifts).enumerated() {
            var columns = [ClosedRange<Float>?](repeating: nil, count: columnCount)
            for column in 0..<columnCount {
                var frame = frames.lowerBound + frames.count * column / columnCount
                let end = frames.lowerBound + frames.count * (column + 1) / columnCount
                while frame < end {
                    let position = frame - shift
                    let count = min(end - frame, block.frameCapacity)
                    if position < reader.frameCount, position + count > 0 {
                        reader.read(into: block.channels, at: position, frameCount: count)
                        for c in 0..<reader.channelCount { Self.extend(&columns[column], block.channels[c], count) }
                    }
                    frame += count
                }
                let part = (Double(index) + Double(column) / Double(columnCount)) / Double(readers.count)
                if column % 16 == 0, !progress(part) { return tracks + [columns] }
            }
            tracks.append(columns)
        }
        return tracks
    }

    private static func extend(_ range: inout ClosedRange<Float>?, _ samples: UnsafePointer<Float>, _ count: Int) {
        var (low, high) = (range?.lowerBound ?? samples[0], range?.upperBound ?? samples[0])
        for i in 0..<count { (low, high) = (min(low, samples[i]), max(high, samples[i])) }
        range = low...high
    }
}
