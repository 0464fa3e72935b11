// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import EarshotRooms

/// Returns the log's words for a report to the host's user, without keys, addresses and times.
func summary(_ notification: RoomHost.Notification) -> String {
    switch notification {
    case .changed(let changes): changes.map(summary).joined(separator: ", ")
    case .refused(let error, _): "refuses a guest: \(error.code)"
    case .split: "another part"
    case .closed: "closes the room"
    }
}

func summary(_ notification: RoomGuest.Notification) -> String {
    switch notification {
    case .asking: "asks"
    case .changed(let changes): changes.map(summary).joined(separator: ", ")
    case .reconnecting: "reconnects"
    case .reconnected: "is connected again"
    case .handedOver(let member): "follows \(member.id)"
    case .askingAgain(let member): "asks \(member.id) again"
    case .forged(let member): "\(member.id) is forged"
    case .split: "another part"
    case .admitted, .offered, .answered, .unanswered, .ended, .over: ""
    }
}

private func summary(_ change: RosterChange) -> String {
    switch change {
    case .joined(let member): "\(member.id) joins"
    case .left(let member): "\(member.id) leaves"
    case .renamed(let member, _): "\(member.id) is \(member.name)"
    case .muted(let member, let isMuted): "\(member.id) is \(isMuted ? "muted" : "unmuted")"
    case .recording(let member, let isRecording): "\(member.id) \(isRecording ? "records" : "ends its recording")"
    case .recordingConsent(let member, let isAllowed):
        "\(member.id) \(isAllowed ? "allows" : "does not allow") recordings"
    case .away(let member, let isAway): "\(member.id) is \(isAway ? "away" : "back")"
    case .moved(let member): "\(member.id) moves"
    case .host(let member): "\(member.id) hosts"
    }
}

func summary(_ state: TransportState) -> String {
    switch state {
    case .connecting: "connecting"
    case .securing: "securing"
    case .open: "open"
    case .silent: "silent"
    case .suspended: "suspended"
    case .closed: "closed"
    case .failed(.handshake): "failed in the handshake"
    case .failed(.otherKey): "failed: another key"
    case .failed(.protection): "failed: no keys"
    }
}

func summary(_ ending: RoomEnding) -> String {
    switch ending {
    case .refused(let error): "refused, \(error.code)"
    case .unreached: "unreached"
    case .changedKey: "another key"
    case .blockedHost: "blocked"
    case .noPINWanted: "no PIN wanted"
    case .impostor: "an impostor"
    case .removed: "removed"
    case .replaced: "replaced"
    case .closed: "closed"
    case .dropped: "dropped"
    case .lost: "lost"
    case .becameHost: "hosts now"
    case .left: "left"
    }
}
