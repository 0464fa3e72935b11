// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioStreams

/// Failed streams during endless playback, and the times at which they are tried again, later each time.
struct PlayRetries {
    private var retryTimes: [Int: HostTime] = [:]
    private var attempts: [Int: Int] = [:]
    private let policy = ReconnectPolicy()

    /// The number of streams that wait to be tried again.
    var count: Int { retryTimes.count }
    func contains(_ index: Int) -> Bool { retryTimes[index] != nil }

    /// Notes a failure of a stream. Returns the seconds until the stream is tried again.
    mutating func fail(_ index: Int, now: HostTime) -> Double {
        attempts[index, default: 0] += 1
        let delay =
            policy.delay(attempt: attempts[index, default: 1], hasPlayed: true, chance: .random(in: 0...1))
            ?? policy.longestDelay
        retryTimes[index] = now.advanced(bySeconds: delay)
        return delay
    }

    /// Notes that a stream plays again, so that its next retry has the shortest delay.
    mutating func succeed(_ index: Int) { attempts[index] = nil }

    /// Returns the indices of the streams to try again now. They no longer wait.
    mutating func take(now: HostTime) -> [Int] {
        let dueIndices = retryTimes.filter { $0.value <= now }.map(\.key).sorted()
        for index in dueIndices { retryTimes[index] = nil }
        return dueIndices
    }
}
