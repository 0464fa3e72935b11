// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// A file that sound is read from, whatever its kind: ``AudioFileReader``, or a reader of a layer above.
///
/// One thread at a time; reading waits for the disk, so never on a render thread.
public protocol SoundFileReader: AnyObject {
    /// The file's path.
    var path: String { get }
    /// The file's rate and channel count.
    var processingFormat: AudioFormat { get }
    /// Frames in the file, as its header says; a damaged file may end earlier.
    var frameCount: Int { get }
    /// The frame that the next read begins with.
    var framePosition: Int { get }
    /// Samples read so far that were no number, or infinite, and came as 0; 0 if a kind of file cannot hold any.
    var faultCount: Int { get }
    /// Reads the next frames. Integer samples come as −1 to 1; a float that is not finite comes as 0.
    /// - Parameters:
    ///   - channels: at least as many as the file has; the rest is left alone.
    ///   - offset: where in the channels to begin, in frames.
    /// - Returns: the frames read: fewer than asked for only at the end of the file, then 0.
    /// - Throws: ``AudioFileError/damaged(path:reason:)``; the next read goes on behind the fault if that is possible.
    func read(into channels: Channels, frameCount: Int, offset: Int) throws(AudioFileError) -> Int
    /// Goes to a frame, exactly; one behind the end is the end.
    /// - Parameter frame: 0 or more.
    /// - Throws: ``AudioFileError/notSeekable(path:)``, or ``AudioFileError/damaged(path:reason:)``.
    func seek(to frame: Int) throws(AudioFileError)
}

extension SoundFileReader {
    /// Zero.
    public var faultCount: Int { 0 }

    /// Reads the next frames to the beginning of the channels.
    public func read(into channels: Channels, frameCount: Int) throws(AudioFileError) -> Int {
        try read(into: channels, frameCount: frameCount, offset: 0)
    }
}

extension AudioFileReader: SoundFileReader {}
