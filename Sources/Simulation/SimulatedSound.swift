// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioFiles

/// The sound at a simulated microphone, at its card's rate.
package struct SimulatedSound {
    /// Writes the frames `first ..< first + count` to each of the channels. Blocks come in order, without gaps.
    let fill: (_ channels: Channels, _ first: Int, _ count: Int) throws -> Void

    /// - Parameter fill: writes the frames `first ..< first + count` to each of the channels; blocks come in order and without
    ///   gaps. An error ends the simulation.
    package init(fill: @escaping (_ channels: Channels, _ first: Int, _ count: Int) throws -> Void) { self.fill = fill }

    /// - Parameter each: returns a sample by its frame and channel.
    package init(_ each: @escaping (_ frame: Int, _ channel: Int) -> Float) {
        self.init(fill: { channels, first, count in
            for c in 0..<channels.count { for i in 0..<count { channels[c][i] = each(first + i, c) } }
        })
    }

    /// Returns endless noise, the same in all channels, whose level varies like that of speech. Another `voice` gives other
    /// noise.
    package static func speechLikeNoise(voice: UInt64 = 0) -> SimulatedSound {
        let noise = SpeechLikeNoise(voice: voice)
        return SimulatedSound(fill: { channels, first, count in
            guard channels.count > 0 else { return }
            noise.fill(channels[0], from: first, count: count)
            for c in 1..<max(1, channels.count) { copySamples(channels[c], channels[0], count) }
        })
    }

    /// Returns the sound of a file of any length, repeated and read on demand.
    /// - Parameters:
    ///   - file: owned by the sound from now on.
    ///   - format: the card's format.
    /// - Throws: ``SimulationError/noSound(_:)`` with the file's path.
    package static func file(_ file: any SoundFileReader, as format: AudioFormat) throws(SimulationError)
        -> SimulatedSound
    {
        let reader = ConvertedFileReader(file, as: format)
        guard reader.frameCount > 0 else { throw .noSound(file.path) }
        let repeated = RepeatedFile(reader)
        return SimulatedSound(fill: { channels, _, count in try repeated.read(into: channels, count) })
    }
}

/// A file that is repeated.
private final class RepeatedFile {
    private let reader: ConvertedFileReader
    private let piece: AudioBuffer
    private var nextFrame = 0
    private var filledFrames = 0
    private static let pieceFrames = 4_096

    init(_ reader: ConvertedFileReader) {
        self.reader = reader
        piece = AudioBuffer(
            channelCount: reader.processingFormat.channelCount, frameCapacity: Self.pieceFrames)
    }

    func read(into channels: Channels, _ count: Int) throws(AudioFileError) {
        var done = 0
        while done < count {
            if nextFrame == filledFrames { try refill() }
            if filledFrames == 0 { break }  // the file has been emptied meanwhile
            let frames = min(count - done, filledFrames - nextFrame)
            for c in 0..<channels.count {
                copySamples(channels[c] + done, piece.channels[min(c, piece.channels.count - 1)] + nextFrame, frames)
            }
            nextFrame += frames
            done += frames
        }
        for c in 0..<channels.count { clearSamples(channels[c] + done, count - done) }
    }

    private func refill() throws(AudioFileError) {
        nextFrame = 0
        filledFrames = try reader.read(into: piece.channels, frameCount: Self.pieceFrames)
        if filledFrames > 0 { return }
        try reader.seek(to: 0)
        filledFrames = try reader.read(into: piece.channels, frameCount: Self.pieceFrames)
    }
}
