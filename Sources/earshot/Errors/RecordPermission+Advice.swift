// SPDX-License-Identifier: Apache-2.0

import EarshotAudioDevices

extension RecordPermission {
    /// One line with the obstacle for a microphone and advice; nil without an obstacle.
    func advice(for microphone: String) -> String? {
        let settings = "in the sound settings (pavucontrol, alsamixer)"
        switch self {
        case .granted: return nil
        case .denied(.hardwareSwitch): return "A privacy key has turned off \(microphone). Press the key."
        case .unknown(.hardwareSwitch):
            return "The light of the microphone's mute key is on. If others do not hear you, press the key."
        case .denied(let reason), .unknown(let reason):
            switch reason {
            case .noAccess(let path): return ErrorText.text(AudioDeviceError.notPermitted(device: path))
            case .notPluggedIn: return "Nothing is plugged into the socket of \(microphone). Plug a microphone in."
            case .hardwareSwitch: return nil
            case .muted: return "\(microphone) is muted. Unmute it \(settings)."
            case .zeroVolume: return "The volume of \(microphone) is 0. Raise it \(settings)."
            case .sandbox: return "The sandbox of this program has no access to sound. Allow its socket pulseaudio."
            case .noMicrophone: return "There is no microphone. Plug one in, or list devices: earshot devices"
            case .noServer: return nil
            }
        }
    }

    /// The permission as a word of a JSON document.
    var word: String {
        switch self {
        case .granted: "granted"
        case .denied: "denied"
        case .unknown: "unknown"
        }
    }
}

extension RecordPermission.Reason {
    /// The reason as a word of a JSON document.
    var word: String {
        switch self {
        case .noAccess: "noAccess"
        case .notPluggedIn: "notPluggedIn"
        case .hardwareSwitch: "hardwareSwitch"
        case .muted: "muted"
        case .zeroVolume: "zeroVolume"
        case .sandbox: "sandbox"
        case .noMicrophone: "noMicrophone"
        case .noServer: "noServer"
        }
    }
}

extension AudioSystem {
    /// Warns about a microphone that is silent, before it is opened. Missing microphones and devices without permission are left
    /// out, since opening them fails.
    /// - Parameter id: the microphone's id; nil for the default one.
    func warnOfSilentMicrophone(id: String?) {
        guard backend != .simulated,
            let device = devices.first(where: { id == nil ? $0.isDefaultInput : $0.id == id })
        else { return }
        let permission = recordPermission(ofInput: device.id)
        if case .noAccess? = permission.reason { return }
        if let advice = permission.advice(for: DeviceFormatting.name(device)) { Terminal.warn(advice) }
    }
}
