// SPDX-License-Identifier: Apache-2.0

import EarshotAudioDevices
import EarshotAudioSession

extension AudioDeviceError: AdvisedError {
    var advice: String? {
        switch self {
        case .noSystem:
            "Start PipeWire (systemctl --user start pipewire wireplumber) or jackd, plug in a sound card, or use "
                + "--device simulated."
        case .noServer(.jack, _, onPipeWire: true): "Use --device pipewire."
        case .noServer(.jack, let server, _):
            "Start one with 'jackd\(Self.option(server)) -d alsa', or without a sound card "
                + "'jackd\(Self.option(server)) -d dummy', or use --device simulated."
        case .noServer(.pipewire, _, _):
            "Start it with 'systemctl --user start pipewire wireplumber', or use --device jack, alsa or simulated."
        case .noServer: "Plug in a sound card, or use --device pipewire, jack or simulated."
        case .otherUsersServer(_, _, let owner): "Run this program as \(owner ?? "that user")."
        case .refused: "Check that the server runs as this user and accepts another client."
        case .noDevice(_, let near):
            ErrorText.suggestion(near, otherwise: "List devices: earshot devices")
        case .noDefaultDevice: "Plug one in, or list devices: earshot devices"
        case .busy: "Close it (see: fuser -v /dev/snd/*), or choose another device with --device."
        case .notPermitted: "Join the group audio (sudo usermod -aG audio $USER) and log in again."
        case .unsupportedFormat: nil
        case .otherSampleRate(_, let asked): "Omit the rate, or restart jackd with -r \(Int(asked))."
        case .otherBlock(_, let asked): "Omit the block, or run: jack_bufsize \(asked)"
        case .portFailed: "Check that the port exists: 'jack_lsp -c' or 'pw-link -io'."
        case .otherServer(_, let asked): "Use \"\(asked)\" from another process."
        case .callFailed: "Restart the sound system and try again."
        case .serverGone: "Start it again."
        case .deviceGone: "Plug it in again, or choose another with --device."
        case .stalled: "Restart the sound system, or choose another device with --device."
        case .sampleRateChanged: "Start this program again."
        case .alreadyRunning: nil
        case .noThread: "Close other programs, or raise the limit: ulimit -u"
        }
    }

    private static func option(_ server: String?) -> String { server.map { " -n \($0)" } ?? "" }
}

extension Interruption {
    /// The interruption's description, with advice if the device was taken or failed.
    var text: String {
        switch self {
        case .deviceTaken(let error), .deviceFailed(let error): ErrorText.text(error)
        case .serverGone, .noDevice, .stalled, .suspended: description
        }
    }
}

extension AudioSessionEvent {
    /// The event's description; for an interruption with advice.
    var text: String {
        if case .interruptionBegan(let why) = self { "sound interrupted: \(why.text)" } else { description }
    }
}
