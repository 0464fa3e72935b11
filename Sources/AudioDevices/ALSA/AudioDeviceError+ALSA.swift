// SPDX-License-Identifier: Apache-2.0

import CEarshotALSA
import Foundation

extension AudioDeviceError {
    /// Returns the error of a failed call of libasound.
    /// - Parameters:
    ///   - code: the result, a negative errno.
    ///   - call: the name of the call.
    ///   - device: the PCM's name.
    static func alsa(_ code: CInt, call: String, device: String) -> AudioDeviceError {
        switch -code {
        case EBUSY, EAGAIN: .busy(device: device)
        case EACCES, EPERM: .notPermitted(device: device)
        // A card's PCM existed when its name was listed, so the card is gone; any other name is merely unknown.
        case ENOENT: device.hasPrefix("hw:") ? .deviceGone(name: device) : .noDevice(name: device, near: [])
        case ENODEV, ENXIO, ESHUTDOWN: .deviceGone(name: device)
        case EBADFD:
            call == ALSACall.open.name ? .callFailed(.alsa, call: call, code: Int(-code)) : .deviceGone(name: device)
        // The sound server of a plug-in does not answer.
        case EHOSTDOWN, ECONNREFUSED: .noServer(.alsa, server: device, onPipeWire: false)
        case EPIPE, ECONNRESET: .serverGone(.alsa, reason: "what was behind \(device)")
        case ENOTSUP: .unsupportedFormat(detail: "\(device) has no clock")
        case ETIME: .stalled(device: device, seconds: ALSALoop.stallSeconds)
        default: .callFailed(.alsa, call: call, code: Int(-code))
        }
    }
}

/// The calls of libasound whose failure ends a device.
enum ALSACall: Int {
    case open, configure, prepare, start, wait, read, write, recover

    /// The call's name in libasound.
    var name: String {
        switch self {
        case .open: "snd_pcm_open"
        case .configure: "snd_pcm_hw_params"
        case .prepare: "snd_pcm_prepare"
        case .start: "snd_pcm_start"
        case .wait: "snd_pcm_avail"
        case .read: "snd_pcm_readi"
        case .write: "snd_pcm_writei"
        case .recover: "snd_pcm_resume"
        }
    }
}
