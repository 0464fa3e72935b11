// SPDX-License-Identifier: Apache-2.0

/// Renamed options, which are refused with the new name.
enum RenamedOptions {
    /// - Parameter command: the command with the option.
    /// - Returns: the new name; nil if the option was not renamed.
    static func newName(of option: String, command: String) -> String? {
        byCommand[command]?[option] ?? everywhere[option]
    }

    private static let everywhere = [
        "input": "microphone", "output": "speaker", "input-map": "microphone-channels",
        "output-map": "speaker-channels", "jack-name": "client-name", "seconds": "duration", "minutes": "duration",
    ]

    private static let byCommand = [
        "play": ["device-rate": "rate"],
        "send": ["to": "room"],
        "simulate": ["capacity": "link-rate"],
    ]
}
