// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP
import EarshotAudioFiles

/// Reads a song into a ring at a device's rate, and maps each ring frame to its position in the song. For one thread, which may
/// wait for the disk; reads no clock.
///
/// Positions count the file's own frames, so that devices of different rates share them. They are the resampler's exact positions.
package struct SongSource: ~Copyable {
    /// The ring frames for which the rate does not change.
    package static let chunkLength = 512
    /// The largest correction of the rate, as a part of it: 1.7 cents.
    private static let largestCorrection = 0.001
    /// 32 periods keep the band up to 0.45 of the rate.
    private static let halfLength = 32

    package let sampleRate: Double
    /// The frames of the song: by the file's header, or the limit.
    package let frameCount: Int
    /// The ring frames written so far.
    package private(set) var writtenCount = 0
    /// True if the song's last frame is in the ring, or reading failed.
    package private(set) var hasEnded = false
    /// The error that ended the guide vocal; nil if there is none.
    private(set) var guideFailure: AudioFileError?
    /// The gain of the guide vocal, which is mixed into the frames that are written next.
    var guideGain: Float = 0

    private let reader: ConvertedFileReader
    private var guide: GuideVocal?
    private let countIn: Beat?
    private let memory: SongMemory
    private var ring: AudioRing { memory.ring }
    private let chunk: AudioBuffer
    private let step: Double
    private var resampler: Resampler
    /// The song frame that is read next; negative in the count-in.
    private var inputFrame: Int64 = 0
    /// The first ring frame after the last seek.
    private var seekFrame = 0
    private var pieces: [SongMap.Piece] = []

    /// - Parameters:
    ///   - file: owned by the source from now on.
    ///   - countIn: the beat that is heard before the song; nil for silence.
    ///   - limit: the frames that are played at most, such as those of a song whose mix is longer; nil for all.
    ///   - memory: the source is the only writer of its ring.
    package init(_ file: any SoundFileReader, countIn: Beat? = nil, limit: Int? = nil, into memory: SongMemory) {
        sampleRate = file.processingFormat.sampleRate
        let channelCount = memory.ring.channelCount
        reader = ConvertedFileReader(file, as: AudioFormat(sampleRate: sampleRate, channelCount: channelCount))
        frameCount = min(reader.frameCount, limit ?? .max)
        self.countIn = countIn
        self.memory = memory
        chunk = AudioBuffer(channelCount: channelCount, frameCapacity: Self.chunkLength)
        step = sampleRate / memory.sampleRate
        resampler = Resampler(
            from: sampleRate, to: memory.sampleRate, channelCount: channelCount, halfLength: Self.halfLength,
            maximumFrameCount: Self.chunkLength)
        restart(at: SongPosition(units: 0))
    }

    /// Makes the song faster by a part of its rate, clamped to ±0.1 %, from the next written frame on. The position does not jump.
    package mutating func setCorrection(_ correction: Double) {
        let limit = Self.largestCorrection
        resampler.step = step * (1 + (correction.isFinite ? max(-limit, min(limit, correction)) : 0))
    }

    /// Mixes a guide vocal into the song, in place of an earlier one. Its frame 0 is the song's.
    mutating func setGuide(_ file: any SoundFileReader) {
        guideFailure = nil
        guide = GuideVocal(file, as: AudioFormat(sampleRate: sampleRate, channelCount: ring.channelCount))
    }

    /// Continues with another position, clamped to the song and its count-in.
    /// - Returns: the ring frame of the position. Earlier frames stay in the ring until the renderer discards them.
    package mutating func seek(to position: SongPosition) throws(AudioFileError) -> Int {
        let end = SongPosition(frame: Int64(frameCount))
        let start = SongPosition(frame: -Int64(((countIn?.countInTime ?? 0) * sampleRate).rounded(.up)))
        let position = max(start, min(end, position))
        seekFrame = writtenCount
        hasEnded = true  // until the file is at the position
        restart(at: position)
        do throws(AudioFileError) { try reader.seek(to: Int(max(0, inputFrame))) } catch {
            endSong()
            throw error
        }
        hasEnded = false
        memory.end.writer.store(-1)
        return seekFrame
    }

    private mutating func restart(at position: SongPosition) {
        resampler.restart(fraction: Double(position.fraction) / Double(SongPosition.unitsPerFrame))
        inputFrame = position.frame - Int64(resampler.historyCount)
    }

    /// Fills the ring by half, so that a seek finds room.
    /// - Parameter dueFrame: the ring frame that is due next, also if it is missing.
    /// - Returns: false if the ring has no room before frames of an earlier position are discarded.
    @discardableResult
    package mutating func fill(dueFrame: Int) throws(AudioFileError) -> Bool {
        while !hasEnded, writtenCount - max(seekFrame, dueFrame) < ring.capacity / 2 {
            guard ring.capacity - ring.writer.heldFrames >= Self.chunkLength else { return false }
            do throws(AudioFileError) { try writeChunk() } catch {
                endSong()
                throw error
            }
        }
        return true
    }

    /// Returns the map of the ring frames written since the last call, in order.
    package mutating func takePieces() -> [SongMap.Piece] {
        defer { pieces = [] }
        return pieces
    }

    /// The position of the next ring frame.
    private var position: SongPosition {
        // Both factors have few bits, so the product is exact.
        let held = resampler.heldFrames * Double(SongPosition.unitsPerFrame)
        return SongPosition(units: SongPosition(frame: inputFrame).units - Int128(held))
    }

    private mutating func writeChunk() throws(AudioFileError) {
        let position = position
        let rate = Int64(resampler.step * Double(SongPosition.unitsPerFrame))
        let left = SongPosition(frame: Int64(frameCount)).units - position.units
        let count = Int(min(Int128(Self.chunkLength), (left + Int128(rate) - 1) / Int128(rate)))
        guard left > 0, count > 0 else { return endSong() }
        try readInput(resampler.inputNeeded(for: count))
        resampler.render(chunk.channels, frameCount: count)
        ring.writer.write(chunk.channels, frameCount: count)
        pieces.append(
            SongMap.Piece(
                frame: Int64(writtenCount), frameCount: Int64(count), position: position, rate: rate,
                hostTime: HostTime(nanoseconds: 0)))
        writtenCount += count
    }

    private mutating func endSong() {
        hasEnded = true
        memory.end.writer.store(writtenCount)
    }

    /// Reads frames of the song into the resampler: the beat before the song; silence after it, and in its damaged parts.
    private mutating func readInput(_ frameCount: Int) throws(AudioFileError) {
        let offset = resampler.inputOffset
        let silentCount = Int(min(Int64(frameCount), max(0, -inputFrame)))
        for c in 0..<ring.channelCount { clearSamples(resampler.input[c] + offset, frameCount) }
        countIn?.render(into: resampler.input[0] + offset, from: inputFrame, silentCount, sampleRate: sampleRate)
        for c in 1..<max(1, ring.channelCount) {
            copySamples(resampler.input[c] + offset, resampler.input[0] + offset, silentCount)
        }
        if silentCount < frameCount {
            let (first, count) = (offset + silentCount, frameCount - silentCount)
            _ = try reader.read(into: resampler.input, frameCount: count, offset: first)
            addGuide(first, count)
        }
        resampler.append(frameCount)
        inputFrame += Int64(frameCount)
    }

    /// Adds the guide vocal to frames of the song in the resampler's input. A guide that cannot be read ends, and the song goes on.
    private mutating func addGuide(_ offset: Int, _ frameCount: Int) {
        guard let guide else { return }
        do throws(AudioFileError) {
            try guide.add(
                to: resampler.input, offset: offset, from: Int(max(0, inputFrame)), frameCount, gain: guideGain)
        } catch { (self.guide, guideFailure) = (nil, error) }
    }
}
