// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// A file that sound is written to, whatever its kind: ``AudioFileWriter``, ``MP3FileWriter``, or a writer of a layer
/// above.
///
/// One thread at a time; writing waits for the disk, so never on a render thread.
public protocol SoundFileWriter: AnyObject {
    /// The format that is written.
    var format: AudioFormat { get }
    /// The file's rate in hertz: another than the format's if the kind does not have that.
    var fileSampleRate: Double { get }
    /// Frames written, at the format's rate.
    var frameCount: Int { get }
    /// Appends frames of at least as many channels as the format has. After an error the file is closed, and plays.
    func write(_ channels: Channels, frameCount: Int, offset: Int) throws(AudioFileError)
    /// Appends silence. Throws as ``write(_:frameCount:offset:)`` does.
    func writeSilence(frameCount: Int) throws(AudioFileError)
    /// Closes the file; again does nothing.
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
