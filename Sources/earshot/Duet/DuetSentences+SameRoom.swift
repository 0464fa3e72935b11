// SPDX-License-Identifier: Apache-2.0

/// The sentences about singers in the same room.
extension DuetSentences {
    /// - Parameter isOnly: true if nobody else is silent, so that a key needs no selection.
    static func nearby(_ name: String, isOnly: Bool, hasKeys: Bool) -> String {
        let name = TerminalText.sanitized(name)
        let key = isOnly ? "press v" : "select \(name) with ↑ or ↓, then press v"
        let advice = hasKeys ? key : "earshot call hear \(HostCommand.quoted(name))"
        return "\(name) is in the same room, so you hear \(name) only through the air. "
            + "To hear \(name) over the network too: \(advice)"
    }

    static func away(_ name: String) -> String {
        let name = TerminalText.sanitized(name)
        return "\(name) is not in the same room any more. You hear \(name) over the network again."
    }

    static func song(isElsewhere: Bool) -> String {
        isElsewhere
            ? "Your loudspeaker is silent during the song, because another one in the room plays it."
            : "Your loudspeaker plays the song again."
    }
}
