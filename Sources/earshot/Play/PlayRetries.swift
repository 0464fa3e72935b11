// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioStreams

/// Streams that failed while everything is played again and again, and when each is tried once more: later each time.
struct PlayRetries {
    private var due: [Int: HostTime] = [:]
    private var attempts: [Int: Int] = [:]
    private let policy = ReconnectPolicy()

    /// The number of waiting items.
    var count: Int { due.count }
    func contains(_ index: Int) -> Bool { due[index] != nil }

    /// It failed. Returns the seconds until it is tried again.
    mutating func fail(_ index: Int, now: HostTime) -> Double {
        attempts[index, default: 0] += 1
        let delay =
            policy.delay(attempt: attempts[index, default: 1], hasPlayed: true, chance: .random(in: 0...1))
            ?? policy.longestDelay
        due[index] = now.advanced(bySeconds: delay)
        return delay
    }

    /// It plays.
    mutating func succeed(_ index: Int) { attempts[index] = nil }

    /// Returns the items to try now; once.
    mutating func take(now: HostTime) -> [Int] {
        let now = due.filter { $0.value <= now }.map(\.key).sorted()
        for index in now { due[index] = nil }
        return now
    }
}
