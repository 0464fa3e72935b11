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
    /// The samples beyond full scale, which were clipped.
    package var clippedSampleCount: Int

    private static let blockLength = 16_384

    /// Renders the takes of a recording's local voice, and writes the stem. The file has its name when it is complete, and only the
    /// user can read a new one. Memory does not grow with the length. Waits for the disk.
    /// - Parameters:
    ///   - folder: the folder of the recording.
    ///   - numbers: the numbers of the takes to use; nil for all. Of a passage that was sung twice the later take counts.
    ///   - song: the path of the song.
    ///   - path: the path of the stem.
    ///   - progress: is called for each block with the completed part, 0 to 1. Returning false cancels.
    package static func write(
        takesOf folder: String, numbers: Set<Int>? = nil, song: String, to path: String,
        progress: (Double) -> Bool = { _ in true }
    ) throws(StemError) -> AlignedStem {
        let (rate, frameCount) = try lengthOfSong(song)
        let takes = try StemTakes(folder: folder, numbers: numbers, songRate: rate, songLength: frameCount)
        if takes.manifest.owns(path, inFolder: folder) { throw .ownFile(path: path) }
        let renderer = StemRenderer(takes.sequence.map, takes.sequence, frameCount: frameCount, songRate: rate)
        let format = AudioFormat(sampleRate: rate, channelCount: renderer.channelCount)
        var clippedSampleCount = 0
        var isCancelled = false
        do throws(AudioFileError) {
            let file = try AtomicFileReplacement(of: path, isPrivate: true)
            do throws(AudioFileError) {
                let writer = try SoundFiles.create(
                    file.path, type: .flac, format: format, settings: .init(sampleFormat: .int24))
                let block = AudioBuffer(channelCount: format.channelCount, frameCapacity: blockLength)
                while case let count = try renderer.read(into: block.channels, frameCount: blockLength), count > 0 {
                    for c in 0..<format.channelCount {
                        clippedSampleCount += countBeyondFullScale(block.channels[c], count)
                    }
                    try writer.write(block.channels, frameCount: count)
                    isCancelled = !progress(Double(renderer.framePosition) / Double(frameCount))
                    if isCancelled { break }
                }
                try writer.close()
            } catch { throw error.named(path, insteadOf: file.path) }
            if !isCancelled { try file.commit() }
        } catch { throw .output(error) }
        if isCancelled { throw .cancelled }
        return AlignedStem(
            path: path, format: format, frameCount: frameCount, gaps: renderer.reasonedGaps, faults: takes.allFaults,
            clippedSampleCount: clippedSampleCount)
    }

    private static func lengthOfSong(_ path: String) throws(StemError) -> (rate: Double, frameCount: Int) {
        let song: any SoundFileReader
        do throws(AudioFileError) { song = try SoundFiles.open(path) } catch { throw .song(error) }
        if song.frameCount <= 0 { throw .emptySong(path: path) }
        return (song.processingFormat.sampleRate, song.frameCount)
    }
}
