// SPDX-License-Identifier: Apache-2.0

import EarshotAudioStreams

extension AudioStreamError: AdvisedError {
    var advice: String? {
        switch self {
        case .badAddress: "An address begins with http:// or https://"
        case .refused: "Check the address."
        case .redirectRefused: "Use another address."
        case .tooManyRedirects: "Use the stream's final address."
        case .notTrusted: "Check the clock and the address."
        case .unreachable: "Check the network and the address."
        case .notAudio(_, let reason): reason.advice
        case .badPlaylist: "Use the address of the stream itself."
        case .codec(let error): error.advice
        case .notSeekable: "Wait, or play it from the beginning."
        case .system: "Close other programs."
        }
    }
}
