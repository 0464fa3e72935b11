// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioFiles

/// Adds a guide vocal to the frames of its song, at a gain. For one thread, which may wait for the disk.
final class GuideVocal {
    private static let blockLength = 1_024

    private let reader: ConvertedFileReader
    private let block: AudioBuffer
    private var gain: Float = 0

    /// - Parameter format: that of the song's frames.
    init(_ file: any SoundFileReader, as format: AudioFormat) {
        reader = ConvertedFileReader(file, as: format)
        block = AudioBuffer(channelCount: format.channelCount, frameCapacity: Self.blockLength)
    }

    /// Adds the guide's frames to those of the song. The gain is reached with the last frame.
    /// - Parameter frame: the first of the song's frames, 0 or more.
    func add(
        to channels: Channels, offset: Int, from frame: Int, _ frameCount: Int, gain target: Float
    ) throws(AudioFileError) {
        guard gain != 0 || target != 0, frameCount > 0 else { return }
        // The song was moved, or the guide was silent.
        if reader.framePosition != frame { try reader.seek(to: frame) }
        let step = (target - gain) / Float(frameCount)
        var done = 0
        while done < frameCount {
            let count = try reader.read(into: block.channels, frameCount: min(frameCount - done, Self.blockLength))
            guard count > 0 else { break }
            for c in 0..<channels.count {
                addSamples(
                    channels[c] + offset + done, block.channels[c], count, gain: gain, step: step, past: done)
            }
            done += count
        }
        gain = target
    }
}
