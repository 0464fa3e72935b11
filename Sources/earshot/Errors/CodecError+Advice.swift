// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioCodecs
import EarshotCall
import EarshotVoiceProcessing

extension CodecError: AdvisedError {
    var advice: String? {
        switch self {
        case .unsupportedFormat: nil
        case .codecMissing: "Install the distribution's libavcodec, or choose --codec opus."
        case .badConfiguration(let codec, _): "Use mono or stereo \(codec) LC, or Opus, on the peer."
        case .badPacket, .encoderFinished: nil
        case .libraryFailure: "Report this error with the version of the codec library."
        }
    }
}

extension VoiceProcessingError: AdvisedError {
    var advice: String? {
        switch self {
        case .unsupportedRate: "Set the sound card to a rate from 8000 to 192000 Hz, or use headphones."
        case .refused: "Install webrtc-audio-processing again, or use headphones."
        case .failed, .left: "Use headphones."
        case .noThread: "Close other programs, or raise the limit (ulimit -u), or use headphones."
        }
    }
}

extension CallError: AdvisedError {
    var advice: String? {
        switch self {
        case .full: "Wait until a participant leaves."
        case .notOffered: nil
        }
    }
}
