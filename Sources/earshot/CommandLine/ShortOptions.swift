// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// The short options. A letter means the same in every command.
enum ShortOptions {
    static let letters: [String: Character] = [
        "bitrate": "b", "codec": "c", "device": "d", "effect": "e", "json": "j", "microphone": "m", "name": "n",
        "output": "o", "pin": "p", "speaker": "s",
    ]
}

extension NameSpecification {
    /// Returns the long option with its letter.
    static func lettered(_ option: String) -> NameSpecification {
        guard let letter = ShortOptions.letters[option] else { preconditionFailure("--\(option) has no letter") }
        return [.customShort(letter), .customLong(option)]
    }
}
