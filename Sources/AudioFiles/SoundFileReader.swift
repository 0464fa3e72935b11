// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// A readable sound file of any type: ``AudioFileReader``, or a reader of a layer above.
///
/// For one thread at a time; reads block on the disk, so never use it on a render thread.
public protocol SoundFileReader: AnyObject {
    /// The file's path.
    var path: String { get }
    /// The file's sample rate and channel count.
    var processingFormat: AudioFormat { get }
    /// The number of frames by the header; a damaged file may end earlier.
    var frameCount: Int { get }
    /// The first frame of the next read.
    var framePosition: Int { get }
    /// The number of samples read so far that were NaN or infinite, and were replaced by 0.
    var faultCount: Int { get }
    /// Reads the next frames. Integer samples are scaled to −1 to 1; a NaN or infinite sample becomes 0.
    /// - Parameters:
    ///   - channels: at least as many channels as the file has; further channels are not changed.
    ///   - offset: the index in `channels` of the first frame to fill.
    /// - Returns: the frames read: fewer than requested only at the end of the file, then 0.
    /// - Throws: ``AudioFileError/damaged(path:reason:)``; the next read continues after the damage if possible.
    func read(into channels: Channels, frameCount: Int, offset: Int) throws(AudioFileError) -> Int
    /// Seeks to a frame, exactly.
    /// - Parameter frame: 0 or more; clamped to the end.
    /// - Throws: ``AudioFileError/notSeekable(path:)``, or ``AudioFileError/damaged(path:reason:)``.
    func seek(to frame: Int) throws(AudioFileError)
}

extension SoundFileReader {
    /// 0, for file types whose samples are never NaN or infinite.
    public var faultCount: Int { 0 }

    /// Reads the next frames, and stores them from the first frame of the channels on.
    public func read(into channels: Channels, frameCount: Int) throws(AudioFileError) -> Int {
        try read(into: channels, frameCount: frameCount, offset: 0)
    }
}

/// A sound file with the properties that a conversion keeps or reports.
package protocol DetailedSoundFileReader: SoundFileReader {
    /// True if the file shows that its end is missing; false if reading throws there.
    var isCutOff: Bool { get }
    /// The content besides sound, tags and pictures.
    var extras: [AudioFileExtra] { get }
    /// The loudspeakers of the channels; nil if the file does not tell them.
    var channelMap: ChannelMap? { get }
    /// The broadcast extension of a WAV; nil for other files.
    var broadcastInfo: BroadcastInfo? { get }
    /// Reads the tags. Throws as ``AudioFileTags/init(path:)`` does.
    func readTags() throws(AudioFileError) -> AudioFileTags
}

extension DetailedSoundFileReader {
    package var isCutOff: Bool { false }
    package var channelMap: ChannelMap? { nil }
    package var broadcastInfo: BroadcastInfo? { nil }
    package func readTags() throws(AudioFileError) -> AudioFileTags { try AudioFileTags(path: path) }
}

extension AudioFileReader: DetailedSoundFileReader {}
