// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioContainers
import EarshotAudioFiles
import EarshotDuet

/// A voice on the timeline of a song: a FLAC file of 24 bits whose frame 0 is the song's, with the song's rate and length.
package struct AlignedStem: Sendable {
    package var path: String
    /// The song's rate, and the channels of the voice.
    package var format: AudioFormat
    package var frameCount: Int
    /// The frames without a voice, which are silent, in order.
    package var gaps: [StemGap]
    /// The reasons that parts of the takes are silent or not used.
    package var faults: [StemFault]

    private static let blockLength = 16_384

    /// Renders the takes of the local voice, and writes the stem. If a passage was sung twice, the later take counts. The file has
    /// its name when it is complete, and only the user can read a new one. Memory does not grow with the length. Waits for the disk.
    /// - Parameters:
    ///   - folders: the recordings, in the order in which they were made.
    ///   - path: the path of the stem.
    package static func write(
        takesOf folders: [String], song: DuetSound, to path: String
    ) throws(StemError) -> AlignedStem {
        let (rate, frameCount, hash): (Double, Int, String)
        do throws(AudioFileError) {
            (rate, frameCount) = try song.length()
            hash = try song.hash()
        } catch { throw .song(error) }
        let takes = try StemTakes(
            folders: folders, song: .init(rate: rate, frameCount: frameCount, hash: hash))
        if takes.owns(path) { throw .ownFile(path: path) }
        let renderer = StemRenderer(takes.sequence.map, takes.sequence, frameCount: frameCount, songRate: rate)
        let format = AudioFormat(sampleRate: rate, channelCount: renderer.channelCount)
        do throws(AudioFileError) {
            let file = try AtomicFileReplacement(of: path, isPrivate: true)
            do throws(AudioFileError) {
                let writer = try SoundFiles.create(
                    file.path, type: .flac, format: format, settings: .init(sampleFormat: .int24))
                let block = AudioBuffer(channelCount: format.channelCount, frameCapacity: blockLength)
                while case let count = try renderer.read(into: block.channels, frameCount: blockLength), count > 0 {
                    try writer.write(block.channels, frameCount: count)
                }
                try writer.close()
                try StemGaps.write(renderer.reasonedGaps, to: file.path)
            } catch { throw error.named(path, insteadOf: file.path) }
            try file.commit()
        } catch { throw .output(error) }
        return AlignedStem(
            path: path, format: format, frameCount: frameCount, gaps: renderer.reasonedGaps, faults: takes.allFaults)
    }
}
