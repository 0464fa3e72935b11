// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport

/// Records a remote peer's last packets and the positions of missing ones: it finds the number of a redundant block, drops
/// duplicates, and chooses the packets to request. It never grows. For the media thread.
struct ReceiveHistory {
    /// The number of recorded packets.
    static let capacity = 256
    /// The missing packets in a row that count as an outage, which is not repaired.
    static let longestGap = 64
    /// The seconds for which a missing packet is not requested, because it may only have been overtaken.
    static let reorderingTime = 0.002
    /// The minimum seconds between two requests, each for one or more packets.
    static let pause = 0.005
    /// The maximum requests for one packet.
    static let maximumRequests = 2

    enum Arrival: Equatable { case new, had }
    private enum State: UInt8 { case missing, came, recovered }

    private struct Entry {
        var sequence = -1
        var position = 0
        var frameCount = 0
        var state = State.missing
        var requestCount = 0
        /// The expected arrival.
        var due = HostTime(nanoseconds: 0)
        /// The time of the last request; before the first request, of the discovery that the packet is missing.
        var since = HostTime(nanoseconds: 0)
    }

    private var entries: [Entry] = Array(repeating: Entry(), count: capacity)
    private var highestSequence = -1
    private let clockRate: Double
    /// The greatest distance, in packets, of the remote peer's recent repetitions, and the number of the last packet with one.
    private var reach = (packets: 0, seen: -1)
    private var missingCount = 0
    private var lastRequestTime: HostTime?
    /// The next time at which ``due(at:roundTrip:hold:into:)`` may find a missing packet to request; nil if it will find none
    /// before another packet arrives.
    private(set) var nextRequestTime: HostTime?

    /// True if the remote peer stores the packets that it sends now, for retransmission. It stores none in the fallback codec.
    var isKept = true

    init(clockRate: Double) { self.clockRate = clockRate }

    private func entry(_ sequence: Int) -> Entry? {
        guard sequence >= 0 else { return nil }
        let entry = entries[sequence % Self.capacity]
        return entry.sequence == sequence ? entry : nil
    }

    /// Forgets all packets, because another source has unrelated numbers.
    mutating func restart() {
        for slot in entries.indices { entries[slot].sequence = -1 }
        highestSequence = -1
        missingCount = 0
        nextRequestTime = nil
        reach = (0, -1)
    }

    /// Records a packet that was not a repetition.
    /// - Returns: ``Arrival/had`` if the packet was recovered or arrived before.
    mutating func arrive(_ sequence: Int, position: Int, frameCount: Int, at now: HostTime) -> Arrival {
        guard sequence >= 0 else { return .new }
        if sequence > highestSequence {
            noteGap(before: sequence, position: position, at: now)
            highestSequence = sequence
        } else if let known = entry(sequence) {
            if known.state == .missing { missingCount -= 1 }
            let had = known.state != .missing
            entries[sequence % Self.capacity].state = .came
            if !had {
                entries[sequence % Self.capacity].position = position
                entries[sequence % Self.capacity].frameCount = frameCount
            }
            return had ? .had : .new
        } else {
            return .new
        }
        put(Entry(sequence: sequence, position: position, frameCount: frameCount, state: .came, due: now, since: now))
        if missingCount > 0, nextRequestTime == nil { nextRequestTime = now }
        return .new
    }

    private mutating func put(_ entry: Entry) {
        let slot = entry.sequence % Self.capacity
        if entries[slot].sequence >= 0, entries[slot].state == .missing { missingCount -= 1 }
        entries[slot] = entry
        if entry.state == .missing { missingCount += 1 }
    }

    private mutating func noteGap(before sequence: Int, position: Int, at now: HostTime) {
        guard highestSequence >= 0, sequence > highestSequence + 1 else { return }
        guard sequence - highestSequence <= Self.longestGap, let last = entry(highestSequence) else {
            let reach = reach
            restart()
            return self.reach = reach
        }
        for missing in highestSequence + 1..<sequence {
            let place = min(position, last.position + last.frameCount * (missing - highestSequence))
            put(
                Entry(
                    sequence: missing, position: place,
                    due: now.advanced(bySeconds: -Double(position - place) / clockRate), since: now))
        }
        let then = now.advanced(bySeconds: Self.reorderingTime)
        nextRequestTime = nextRequestTime.map { min($0, then) } ?? then
    }

    // MARK: Recovery

    /// Returns the number of the missing packet whose first frame is at `position`; nil if there is no such packet.
    func missing(at position: Int, frameCount: Int) -> Int? {
        var above: Entry?
        var sequence = highestSequence
        while sequence > highestSequence - Self.capacity, let known = entry(sequence) {
            sequence -= 1
            if known.state == .missing { continue }
            if known.position > position {
                above = known
                continue
            }
            guard let above, known.position + known.frameCount <= position,
                position + frameCount <= above.position
            else { return nil }
            let candidates = known.sequence + 1..<above.sequence
            guard let first = candidates.first, let last = candidates.last else { return nil }
            if known.position + known.frameCount == position { return first }
            if position + frameCount == above.position { return last }
            let behind = (position - known.position - known.frameCount + frameCount / 2) / max(1, frameCount)
            return min(last, first + behind)
        }
        return nil
    }

    /// Returns true if a packet of this number is missing.
    func isMissing(_ sequence: Int) -> Bool { entry(sequence)?.state == .missing }

    /// Records a packet as missing if its copy arrived before a later packet has shown the gap.
    mutating func expect(_ sequence: Int, position: Int, at now: HostTime) {
        guard highestSequence >= 0,
            (highestSequence + 1...highestSequence + RedundancyPlan.longest).contains(sequence)
        else { return }
        noteGap(before: sequence, position: position, at: now)
        highestSequence = sequence
        put(Entry(sequence: sequence, position: position, due: now, since: now))
    }

    /// Records that a missing packet was recovered.
    /// - Returns: true if the packet was requested.
    mutating func recover(_ sequence: Int, position: Int, frameCount: Int) -> Bool {
        guard isMissing(sequence) else { return false }
        missingCount -= 1
        entries[sequence % Self.capacity].state = .recovered
        entries[sequence % Self.capacity].position = position
        entries[sequence % Self.capacity].frameCount = frameCount
        return entries[sequence % Self.capacity].requestCount > 0
    }

    /// Records that the packet `sequence` repeated an earlier packet.
    /// - Parameter packets: the distance of the two in packets.
    mutating func recordRepetition(of packets: Int, by sequence: Int) {
        guard packets > 0, packets <= Self.longestGap else { return }
        let isOld = sequence - reach.seen > 32
        reach = (isOld ? packets : max(reach.packets, packets), sequence)
    }

    /// Records a retransmission. If it was not requested, the remote peer repeats every packet at the same distance.
    mutating func recordUnrequested(_ sequence: Int) {
        guard let known = entry(sequence), known.requestCount == 0 else { return }
        recordRepetition(of: highestSequence - sequence, by: highestSequence)
    }

    // MARK: Requests

    /// Finds the packets to request now. A packet is requested after the remote peer had time to repeat it unasked, and only if
    /// its retransmission can still be in time.
    /// - Parameters:
    ///   - roundTrip: the seconds of a round trip.
    ///   - hold: the seconds for which playout waits for a late packet.
    ///   - numbers: replaced by the sequence numbers to request, ascending; at most 64.
    mutating func due(at now: HostTime, roundTrip: Double?, hold: Double, into numbers: inout [Int]) {
        numbers.removeAll(keepingCapacity: true)
        nextRequestTime = nil
        guard missingCount > 0, isKept, let roundTrip else { return }
        if let lastRequestTime, now.seconds(since: lastRequestTime) < Self.pause {
            return nextRequestTime = lastRequestTime.advanced(bySeconds: Self.pause)
        }
        let currentReach = highestSequence - reach.seen <= 32 ? reach.packets : 0
        var nextTime: HostTime?
        for sequence in max(0, highestSequence - Self.longestGap)..<max(0, highestSequence) {
            guard let known = entry(sequence), known.state == .missing, known.requestCount < Self.maximumRequests else {
                continue
            }
            guard now.seconds(since: known.due) + roundTrip + Self.reorderingTime <= hold else { continue }
            if sequence + currentReach > highestSequence { continue }  // a later packet will repeat this one
            let waitTime = known.requestCount == 0 ? Self.reorderingTime : 1.5 * roundTrip + Self.pause
            let requestTime = known.since.advanced(bySeconds: waitTime)
            if requestTime > now {
                nextTime = nextTime.map { min($0, requestTime) } ?? requestTime
                continue
            }
            entries[sequence % Self.capacity].requestCount += 1
            entries[sequence % Self.capacity].since = now
            let repeatTime = now.advanced(bySeconds: 1.5 * roundTrip + Self.pause)
            nextTime = nextTime.map { min($0, repeatTime) } ?? repeatTime
            numbers.append(sequence)
        }
        if !numbers.isEmpty { lastRequestTime = now }
        nextRequestTime = nextTime
    }
}
