// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotClockSync

extension GroupAnnouncement {
    init(_ clock: DuetMessage.Clock) {
        self.init(
            term: clock.term,
            line: ClockLine(
                from: HostTime(nanoseconds: clock.from), to: HostTime(nanoseconds: clock.to), rate: clock.rate))
    }
}

extension DuetMessage.Clock {
    init(_ announcement: GroupAnnouncement) {
        let line = announcement.line
        self.init(
            term: announcement.term, from: line.from.nanoseconds, to: line.to.nanoseconds, rate: line.rate)
    }
}
