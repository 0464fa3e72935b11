// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioCodecs
import EarshotAudioFiles

/// The encoding of the sound that an input queue records.
public enum AudioQueueEncoding: Hashable, Sendable {
    /// Unencoded samples of this rate and channel count.
    case linearPCM(AudioFormat)
    /// AAC-LC, with the values of ``AACEncoder/init(sampleRate:channelCount:bitRate:)``.
    case aac(sampleRate: Double, channelCount: Int, bitRate: Int)
    /// Opus at 48 kHz, with the values of ``OpusEncoder/init(channelCount:frameDuration:bitRate:complexity:)``.
    case opus(channelCount: Int, frameDuration: OpusFrameDuration, bitRate: Int)
    /// MP3, with the values of ``MP3Encoder/init(sampleRate:channelCount:bitRate:hasHeader:)``.
    case mp3(sampleRate: Double, channelCount: Int, bitRate: MP3Encoder.BitRate)
}
