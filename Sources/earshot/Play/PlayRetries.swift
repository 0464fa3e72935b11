// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioStreams

/// Failed streams during endless playback, and the times at which they are tried again, later each time.
struct PlayRetries {
    private var due: [Int: HostTime] = [:]
    private var attempts: [Int: Int] = [:]
    private let policy = ReconnectPolicy()

    /// The number of waiting items.
    var count: Int { due.count }
    func contains(_ index: Int) -> Bool { due[index] != nil }

    /// Notes a failure. Returns the seconds until the next try.
    mutating func fail(_ index: Int, now: HostTime) -> Double {
        attempts[index, default: 0] += 1
        let delay =
            policy.delay(attempt: attempts[index, default: 1], hasPlayed: true, chance: .random(in: 0...1))
            ?? policy.longestDelay
        due[index] = now.advanced(bySeconds: delay)
        return delay
    }

    /// Notes a success.
    mutating func succeed(_ index: Int) { attempts[index] = nil }

    /// Returns the items to try now, and removes them.
    mutating func take(now: HostTime) -> [Int] {
        let now = due.filter { $0.value <= now }.map(\.key).sorted()
        for index in now { due[index] = nil }
        return now
    }
}
