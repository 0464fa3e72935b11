// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// Push to talk: the local participant is muted except while talking.
extension LiveCallCore {
    /// The seconds between two notices to the room while the local participant talks and is silent in turn. Each notice goes to
    /// all participants.
    static let muteNoticeInterval = 0.5

    /// The state of push to talk, and of the notices to the room.
    struct PushToTalk: Sendable {
        /// True if the local participant was muted before push to talk.
        var wasMuted = false
        /// The last notice to the room; nil before.
        var notice: (isMuted: Bool, time: HostTime)?
    }

    /// Begins push to talk muted, or ends it with the mute from before.
    mutating func setPushToTalk(_ isOn: Bool) {
        guard isOn != next.isPushToTalk else { return }
        changeSetting(\.isPushToTalk, to: isOn, by: .setPushToTalk(isOn))
        if isOn {
            pushToTalk.wasMuted = next.isMuted
            setMuted(true)
        } else {
            setMuted(pushToTalk.wasMuted)
        }
    }

    /// Tells the room that the local participant is muted, or that it is not. During push to talk the notice may wait for
    /// ``sendWaitingMuteNotice()``.
    mutating func sendMuteNotice(atOnce: Bool = false) {
        if next.isPushToTalk, !atOnce, isMuteNoticeTooEarly { return }
        pushToTalk.notice = (next.isMuted, now)
        act(.room(.notify(ParticipantNotice(isMuted: next.isMuted))))
    }

    /// Sends a notice that waited, unless the room already knows the present state.
    mutating func sendWaitingMuteNotice() {
        guard let notice = pushToTalk.notice, notice.isMuted != next.isMuted, !isMuteNoticeTooEarly else { return }
        sendMuteNotice(atOnce: true)
    }

    private var isMuteNoticeTooEarly: Bool {
        pushToTalk.notice.map { now.seconds(since: $0.time) < Self.muteNoticeInterval } ?? false
    }
}
