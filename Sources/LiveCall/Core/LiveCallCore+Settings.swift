// SPDX-License-Identifier: Apache-2.0

import EarshotRooms

/// Settings, whose changes are reported to all user interfaces.
extension LiveCallCore {
    /// Stores a setting, and reports it if it changed.
    /// - Parameter command: the command that sets the new value.
    mutating func changeSetting<Value: Equatable>(
        _ setting: WritableKeyPath<LiveCallSnapshot, Value>, to value: Value, by command: LiveCallCommand
    ) {
        guard next[keyPath: setting] != value else { return }
        next[keyPath: setting] = value
        notify(.settingChanged(command, nil))
    }

    /// Reports a changed setting of a participant in the room.
    mutating func reportSetting(_ command: LiveCallCommand, of id: MemberID) {
        guard let member = roster?[id] else { return }
        notify(.settingChanged(command, participant(member)))
    }
}
