// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotDuet

/// Notices the changes of a duet that faces show, apart from those that the clock makes.
struct DuetChanges: Sendable {
    /// Seconds by which a song may move without a change.
    private static let tolerance = 0.1

    private var last: DuetDocument?
    /// The time at which the song began, if it had not been moved; nil while it stands still.
    private var lastStart: HostTime?

    /// Notes the present state. Returns true if it has changed since the last call.
    mutating func note(_ status: LiveDuetStatus?, at now: HostTime) -> Bool {
        let document = status.map { DuetDocument($0).withoutClock }
        let start = status.flatMap { Self.start($0.duet, at: now) }
        var isMoved = false
        if let start, let lastStart { isMoved = abs(start.seconds(since: lastStart)) > Self.tolerance }
        guard document != last || isMoved else {
            lastStart = lastStart ?? start
            return false
        }
        (last, lastStart) = (document, start)
        return true
    }

    private static func start<Member>(_ duet: DuetStatus<Member>, at now: HostTime) -> HostTime? {
        switch duet.phase {
        // A mix that is about to begin stands still.
        case .singing, .listening: duet.position > 0 ? now.advanced(bySeconds: -duet.position) : nil
        case .counting(let seconds): now.advanced(bySeconds: seconds)
        case .noSong, .gettingSong, .agreeing, .findingTime, .paused, .ended: nil
        }
    }
}
