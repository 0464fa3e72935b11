// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioCodecs
import EarshotAudioFiles

/// The encoding of a recorded queue.
public enum AudioQueueEncoding: Hashable, Sendable {
    /// Samples as they are, at a rate and channel count.
    case linearPCM(AudioFormat)
    /// AAC-LC; values as ``AACEncoder/init(sampleRate:channelCount:bitRate:)`` takes them.
    case aac(sampleRate: Double, channelCount: Int, bitRate: Int)
    /// Opus at 48 kHz; values as ``OpusEncoder/init(channelCount:frameDuration:bitRate:complexity:)`` takes them.
    case opus(channelCount: Int, frameDuration: OpusFrameDuration, bitRate: Int)
    /// MP3; values as ``MP3Encoder/init(sampleRate:channelCount:bitRate:hasHeader:)`` takes them.
    case mp3(sampleRate: Double, channelCount: Int, bitRate: MP3Encoder.BitRate)
}
