// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioFiles

/// A recording of one peer's microphone and loudspeaker, in two WAV files (16 bits, RF64 if they pass 4 GiB): frame `n` of each is
/// the card's frame `n`.
final class PeerTape {
    let microphone: AudioFileWriter
    let loudspeaker: AudioFileWriter

    /// - Parameter number: of the peer, from 1.
    /// - Throws: what is in the way of the files.
    init(folder: String, number: Int, format: AudioFormat) throws(AudioFileError) {
        microphone = try AudioFileWriter(
            path: "\(folder)/peer-\(number)-mic.wav", format: format, type: .rf64, sampleFormat: .int16)
        loudspeaker = try AudioFileWriter(
            path: "\(folder)/peer-\(number)-heard.wav", format: format, type: .rf64, sampleFormat: .int16)
    }

    /// Both files are whole after it.
    func close() throws(AudioFileError) {
        try microphone.close()
        try loudspeaker.close()
    }
}
