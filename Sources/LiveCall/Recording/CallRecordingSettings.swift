// SPDX-License-Identifier: Apache-2.0

import EarshotAudioContainers
import EarshotAudioFiles

/// The settings of a call's recordings.
package struct CallRecordingSettings: Sendable {
    /// The kind of the recorded files.
    package var type = AudioFileType.rf64
    /// The encoding of the recorded files.
    package var encoding: SoundFiles.Settings
    /// The seconds of each part of a recorded file; nil for files that are not divided.
    package var partDuration: Double?
    /// True if the local voice is also recorded before voice processing.
    package var recordsRawVoice = false
    /// The recording program's version, for the description of the recording.
    package var program = ""

    /// Creates settings for WAV files of 24 bits, of any length. Compression takes little processor time: a call runs beside it.
    package init() {
        encoding = SoundFiles.Settings(sampleFormat: .int24, compressionLevel: 2)
        encoding.aacSearch = .fast
    }
}
