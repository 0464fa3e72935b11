// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// A writable sound file of any type: ``AudioFileWriter``, ``MP3FileWriter``, or a writer of a layer above.
///
/// For one thread at a time; writes block on the disk, so never use it on a render thread.
public protocol SoundFileWriter: AnyObject {
    /// The format of the frames to write.
    var format: AudioFormat { get }
    /// The file's sample rate in hertz, which differs from the format's if the file type does not support that rate.
    var fileSampleRate: Double { get }
    /// The frames written, at the format's rate.
    var frameCount: Int { get }
    /// Appends frames; `channels` has at least as many channels as the format. After an error the file is closed and plays.
    func write(_ channels: Channels, frameCount: Int, offset: Int) throws(AudioFileError)
    /// Appends silence. Throws as ``write(_:frameCount:offset:)`` does.
    func writeSilence(frameCount: Int) throws(AudioFileError)
    /// Closes the file. A second call does nothing.
    func close() throws(AudioFileError)
}

extension SoundFileWriter {
    /// Appends the first frames of the channels. Throws as ``write(_:frameCount:offset:)`` does.
    public func write(_ channels: Channels, frameCount: Int) throws(AudioFileError) {
        try write(channels, frameCount: frameCount, offset: 0)
    }
}

extension AudioFileWriter: SoundFileWriter {}
extension MP3FileWriter: SoundFileWriter {}
