// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioContainers
import EarshotAudioFiles

/// An open file of the accompaniment, in the call's format.
final class SongReader {
    /// The index of the file in the list.
    let index: Int
    let path: String
    /// The tags' artist and title, or the file's name.
    let title: String
    private let reader: ConvertedFileReader

    /// - Throws: the errors of opening; ``AudioFileError/notAudio(path:reason:)`` for a file without a frame.
    init(_ path: String, index: Int, as format: AudioFormat) throws(AudioFileError) {
        let file = try SoundFiles.open(path)
        let tags = (file as? any DetailedSoundFileReader).flatMap { try? $0.readTags() }
        let names = [tags?.artist, tags?.title].compactMap(\.self).filter { !$0.isEmpty }
        title = names.isEmpty ? AccompanimentStatus(path: path).title : names.joined(separator: " – ")
        (self.path, self.index) = (path, index)
        reader = ConvertedFileReader(file, as: format)
        guard reader.frameCount > 0 else { throw .notAudio(path: path, reason: "it contains no sound") }
    }

    /// The number of frames, by the file's header.
    var frameCount: Int { reader.frameCount }
    /// The next frame to be read.
    var position: Int { reader.framePosition }

    func seek(to frame: Int) throws(AudioFileError) { try reader.seek(to: frame) }

    /// Reads the next frames.
    /// - Returns: 0 at the end.
    /// - Throws: ``AudioFileError/damaged(path:reason:)``, also if the file ends more than a second too early, or 2 % if that is
    ///   longer: the length of some files is an estimate.
    func read(into channels: Channels, frameCount: Int) throws(AudioFileError) -> Int {
        let count = try reader.read(into: channels, frameCount: frameCount)
        let tolerance = max(reader.processingFormat.sampleRate, Double(self.frameCount) * 0.02)
        if count == 0, Double(self.frameCount - position) > tolerance {
            throw .damaged(path: path, reason: "its end is missing")
        }
        return count
    }
}
