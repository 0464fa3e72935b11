// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP
import EarshotAudioFiles

/// Renders a take onto the song's timeline: frame 0 is the song's first frame, at the song's rate. Memory is bounded whatever the
/// take's length. For one thread.
///
/// Within 32 frames of a gap or of a jump in the song the interpolation mixes both sides, and within 5 ms the stem is faded.
package final class StemRenderer {
    /// The frames of the song.
    package let frameCount: Int
    /// The song frames without a take, which are silent, in order.
    package var gaps: [Range<Int64>] { plan.gaps }
    /// The same with their reasons.
    package var reasonedGaps: [StemGap] { plan.reasonedGaps(map) }
    /// The next frame.
    package private(set) var framePosition = 0
    /// The first damage of the take's sound, which is silent there; nil if there was none.
    package var damage: AudioFileError? { (reader as? TakeSound)?.damage }

    private let map: SongMap
    private let plan: StemPlan
    private let reader: any SoundFileReader
    private let window: TakeWindow
    private var resampler: Resampler
    private let fade: SongFade
    private var section = 0
    private var run = 0
    /// The piece that the resampler is in; nil if it must be restarted.
    private var piece: Int?
    /// The next frame of the take that the resampler needs.
    private var inputFrame: Int64 = 0
    private static let blockFrames = 512

    /// - Parameters:
    ///   - reader: the take's sound, owned by the renderer from now on.
    ///   - frameCount: the frames of the song.
    ///   - songRate: the rate of the song's positions in hertz.
    package init(_ map: SongMap, _ reader: any SoundFileReader, frameCount: Int, songRate: Double) {
        (self.map, self.reader, self.frameCount) = (map, reader, max(0, frameCount))
        plan = StemPlan(map, frameCount: Int64(self.frameCount))
        window = TakeWindow(reader)
        resampler = Resampler(
            from: reader.processingFormat.sampleRate, to: songRate, channelCount: reader.processingFormat.channelCount,
            halfLength: 32, maximumFrameCount: Self.blockFrames)
        fade = SongFade(sampleRate: songRate)
    }

    /// Opens a take by its map file.
    /// - Throws: ``TakeError``, ``AudioFileError``.
    package convenience init(path: String, frameCount: Int) throws {
        let take = try Take(path: path)
        let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
        // The name is a stranger's and stays in the folder.
        guard !take.description.file.contains("/"), !take.description.file.hasPrefix("..") else {
            throw TakeError.notATake(path: path)
        }
        let reader = try TakeSound(path: folder + take.description.file)
        self.init(take.map, reader, frameCount: frameCount, songRate: take.description.songSampleRate)
    }

    /// The channels of the take.
    package var channelCount: Int { reader.processingFormat.channelCount }

    /// Renders the next frames.
    /// - Returns: fewer than requested only at the song's end, then 0.
    /// - Throws: ``AudioFileError``. The frames stay silent, and the next call continues after them.
    package func read(into channels: Channels, frameCount: Int) throws(AudioFileError) -> Int {
        let total = min(frameCount, self.frameCount - framePosition)
        let start = framePosition
        for c in 0..<channelCount { clearSamples(channels[c], max(0, total)) }
        var failure: AudioFileError?
        var done = 0
        while done < total {
            let position = Int64(start + done)
            while section < plan.sections.count, plan.sections[section].songFrames.upperBound <= position {
                section += 1
            }
            guard section < plan.sections.count else { break }
            let (range, index) = (plan.sections[section].songFrames, plan.sections[section].piece)
            if range.lowerBound > position {
                piece = nil
                done += min(total - done, Int(range.lowerBound - position))
                continue
            }
            let count = min(total - done, Int(range.upperBound - position), Self.blockFrames)
            do throws(AudioFileError) {
                let renderedCount = try render(index, at: position, channels, offset: done, count)
                applyFades(at: position, channels, offset: done, renderedCount)
                done += renderedCount
            } catch {
                if failure == nil { failure = error }
                piece = nil
                done += count
            }
        }
        framePosition = start + max(0, total)
        if let failure { throw failure }
        return max(0, total)
    }

    /// Scales frames of one run that are near its ends.
    private func applyFades(at position: Int64, _ channels: Channels, offset: Int, _ frameCount: Int) {
        while plan.runs[run].upperBound <= position { run += 1 }
        let frames = plan.runs[run]
        let length = Int64(fade.length)
        guard position < frames.lowerBound + length || position + Int64(frameCount) > frames.upperBound - length
        else { return }
        for i in 0..<frameCount {
            let frame = position + Int64(i)
            let gain = fade.gain(at: Int(min(frame - frames.lowerBound + 1, frames.upperBound - frame)))
            for c in 0..<channelCount { channels[c][offset + i] *= gain }
        }
    }

    /// Renders frames of one piece. Returns their number, at least 1.
    private func render(_ index: Int, at position: Int64, _ channels: Channels, offset: Int, _ frameCount: Int)
        throws(AudioFileError) -> Int
    {
        if piece != index {
            let frame = map.pieces[index].frame(at: SongPosition(frame: position))
            resampler.restart(fraction: Double(frame.fraction) / Double(SongPosition.unitsPerFrame))
            resampler.step = Double(SongPosition.unitsPerFrame) / Double(map.pieces[index].rate)
            inputFrame = frame.frame - Int64(resampler.historyCount)
            piece = index
        }
        var count = frameCount
        while count > 1, resampler.inputNeeded(for: count) > resampler.inputRoom { count /= 2 }
        let needed = resampler.inputNeeded(for: count)
        try window.read(inputFrame, into: resampler.input, frameCount: needed, offset: resampler.inputOffset)
        inputFrame += Int64(needed)
        resampler.render(channels, frameCount: count, offset: offset, adding: needed)
        return count
    }
}
