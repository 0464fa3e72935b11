// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioFiles

/// Records a peer's microphone and loudspeaker to two WAV files (16 bits, RF64 above 4 GiB): frame `n` of each is the card's
/// frame `n`.
final class PeerTape {
    let microphone: AudioFileWriter
    let loudspeaker: AudioFileWriter

    /// - Parameter number: the peer's number, from 1.
    /// - Throws: the error of creating a file.
    init(folder: String, number: Int, format: AudioFormat) throws(AudioFileError) {
        microphone = try AudioFileWriter(
            path: "\(folder)/peer-\(number)-mic.wav", format: format, type: .rf64, sampleFormat: .int16)
        loudspeaker = try AudioFileWriter(
            path: "\(folder)/peer-\(number)-heard.wav", format: format, type: .rf64, sampleFormat: .int16)
    }

    /// Completes both files.
    func close() throws(AudioFileError) {
        try microphone.close()
        try loudspeaker.close()
    }
}
