// SPDX-License-Identifier: Apache-2.0

import CEarshotSndfile
import EarshotAudioBase

extension AudioFileWriter {
    /// The format of stored samples.
    public enum SampleFormat: Sendable, CaseIterable {
        /// 32-bit floating point; NaN and infinity become 0. FLAC stores 24 bits instead.
        case float32
        /// 24-bit integers, rounded and clipped.
        case int24
        /// 16-bit integers, rounded and clipped; dithered before if the samples are not multiples of a 16-bit step.
        case int16

        var byteCount: Int {
            switch self {
            case .float32: 4
            case .int24: 3
            case .int16: 2
            }
        }

        var code: CInt {
            switch self {
            case .float32: CInt(SF_FORMAT_FLOAT)
            case .int24: CInt(SF_FORMAT_PCM_24)
            case .int16: CInt(SF_FORMAT_PCM_16)
            }
        }

        /// The sample type passed to libsndfile. The writer rounds samples to it, because libsndfile truncates.
        var memory: SampleType {
            switch self {
            case .float32: .float32
            case .int24: .int24In32
            case .int16: .int16
            }
        }
    }
}
