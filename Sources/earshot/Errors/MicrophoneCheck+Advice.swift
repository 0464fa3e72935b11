// SPDX-License-Identifier: Apache-2.0

import EarshotAudioDevices

extension MicrophoneCheck.Finding {
    /// One line with the problem and advice; nil if the microphone is fine.
    var advice: String? {
        switch self {
        case .fine: nil
        case .digitalSilence:
            "the microphone is completely silent (all zeros). Unmute it in the sound settings. See which one is in use: "
                + "earshot devices"
        case .silent:
            "the microphone has been silent for 5 s. Check that it is not muted. See which one is in use: earshot devices"
        case .clipping:
            "the microphone has been clipping for 5 s. Turn it down in the sound settings (pavucontrol, alsamixer), or "
                + "move away from it."
        }
    }
}
