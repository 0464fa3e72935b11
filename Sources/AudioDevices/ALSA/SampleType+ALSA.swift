// SPDX-License-Identifier: Apache-2.0

import CEarshotALSA
import EarshotAudioBase

extension SampleType {
    /// ALSA's constant for the sample type.
    var alsaFormat: snd_pcm_format_t {
        switch self {
        case .uint8: SND_PCM_FORMAT_U8
        case .int16: SND_PCM_FORMAT_S16_LE
        case .int24: SND_PCM_FORMAT_S24_3LE
        case .int24In32: SND_PCM_FORMAT_S24_LE
        case .int32: SND_PCM_FORMAT_S32_LE
        case .float32: SND_PCM_FORMAT_FLOAT_LE
        case .float64: SND_PCM_FORMAT_FLOAT64_LE
        }
    }

    /// The sample types, the preferred one first. The first five keep all 24 significant bits of a `Float`.
    static let alsaPreference: [SampleType] = [.float32, .int32, .int24In32, .int24, .float64, .int16, .uint8]
}
