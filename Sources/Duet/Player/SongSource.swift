// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDSP
import EarshotAudioFiles

/// Reads a song into a ring at a device's rate, and keeps which position of the song each ring frame is. For one thread, which may
/// wait for the disk; without a clock.
///
/// Positions count the file's own frames, so that devices of different rates share them. They are the resampler's, exact.
package struct SongSource: ~Copyable {
    /// The ring frames for which the rate does not change.
    package static let chunkLength = 512
    /// The largest correction of the rate, as a part of it: 1.7 cents.
    private static let largestCorrection = 0.001
    /// 32 periods keep the band up to 0.45 of the rate.
    private static let halfLength = 32

    package let sampleRate: Double
    /// The frames of the song, by the file's header.
    package let frameCount: Int
    /// The ring frames written so far.
    package private(set) var writtenCount = 0
    /// True if the song's last frame is in the ring, or reading failed.
    package private(set) var hasEnded = false

    private let reader: ConvertedFileReader
    private let ring: AudioRing
    private let chunk: AudioBuffer
    private let step: Double
    private var resampler: Resampler
    /// The song frame that is read next; negative before the song.
    private var inputFrame: Int64 = 0
    /// The first ring frame after the last seek.
    private var seekFrame = 0
    private var pieces: [SongMap.Piece] = []

    /// - Parameters:
    ///   - file: owned by the source from now on.
    ///   - ring: the source is its only writer. A second or more.
    ///   - deviceRate: the ring's rate in hertz.
    package init(_ file: any SoundFileReader, into ring: AudioRing, deviceRate: Double) {
        sampleRate = file.processingFormat.sampleRate
        reader = ConvertedFileReader(
            file, as: AudioFormat(sampleRate: sampleRate, channelCount: ring.channelCount))
        frameCount = reader.frameCount
        self.ring = ring
        chunk = AudioBuffer(channelCount: ring.channelCount, frameCapacity: Self.chunkLength)
        step = sampleRate / deviceRate
        resampler = Resampler(
            from: sampleRate, to: deviceRate, channelCount: ring.channelCount, halfLength: Self.halfLength,
            maximumFrameCount: Self.chunkLength)
        restart(at: SongPosition(units: 0))
    }

    /// Makes the song faster by a part of its rate, clamped to ±0.1 %, from the next written frame on. The position does not jump.
    package mutating func setCorrection(_ correction: Double) {
        let limit = Self.largestCorrection
        resampler.step = step * (1 + (correction.isFinite ? max(-limit, min(limit, correction)) : 0))
    }

    /// Continues with another position, clamped to the song.
    /// - Returns: the ring frame of the position. Earlier frames stay in the ring until the renderer discards them.
    package mutating func seek(to position: SongPosition) throws(AudioFileError) -> Int {
        let end = SongPosition(frame: Int64(frameCount))
        let position = max(SongPosition(units: 0), min(end, position))
        hasEnded = true  // until the file is at the position
        restart(at: position)
        try reader.seek(to: Int(max(0, inputFrame)))
        hasEnded = false
        seekFrame = writtenCount
        return seekFrame
    }

    private mutating func restart(at position: SongPosition) {
        resampler.restart(fraction: Double(position.fraction) / Double(SongPosition.unitsPerFrame))
        inputFrame = position.frame - Int64(resampler.historyCount)
    }

    /// Fills the ring by half, so that a seek finds room.
    /// - Parameter playedCount: the ring frame that is played next.
    package mutating func fill(playedCount: Int) throws(AudioFileError) {
        while !hasEnded {
            let ahead = writtenCount - max(seekFrame, playedCount)
            let room = ring.capacity - ring.writer.heldFrames
            guard ahead < ring.capacity / 2, room >= Self.chunkLength else { return }
            do throws(AudioFileError) { try writeChunk() } catch {
                hasEnded = true
                throw error
            }
        }
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
        guard left > 0, count > 0 else {
            hasEnded = true
            return
        }
        try readInput(resampler.inputNeeded(for: count))
        resampler.render(chunk.channels, frameCount: count)
        ring.writer.write(chunk.channels, frameCount: count)
        pieces.append(
            SongMap.Piece(
                frame: Int64(writtenCount), frameCount: Int64(count), position: position, rate: rate,
                hostTime: HostTime(nanoseconds: 0)))
        writtenCount += count
    }

    /// Reads frames of the song into the resampler; silence before and after the song.
    private mutating func readInput(_ frameCount: Int) throws(AudioFileError) {
        let offset = resampler.inputOffset
        var done = Int(min(Int64(frameCount), max(0, -inputFrame)))
        let silentCount = done
        if done < frameCount {
            done += try reader.read(into: resampler.input, frameCount: frameCount - done, offset: offset + done)
        }
        for c in 0..<ring.channelCount {
            clearSamples(resampler.input[c] + offset, silentCount)
            clearSamples(resampler.input[c] + offset + done, frameCount - done)
        }
        resampler.append(frameCount)
        inputFrame += Int64(frameCount)
    }
}
