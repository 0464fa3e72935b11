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
    /// The seconds for which a missing packet may only have been overtaken, before it is requested.
    static let reorderingTime = 0.002
    /// The minimum seconds between two requests.
    static let pause = 0.005
    /// The maximum requests for one packet.
    static let maximumRequests = 2

    enum IncomingTransfer: Equatable { case new, had }
    private enum State: UInt8 { case missing, came, recovered }

    private struct Entry {
        var sequence = -1
        var position = 0
        var frameCount = 0
        var state = State.missing
        var requestCount = 0
        /// The expected arrival, then the time of the last request or of the discovery that it is missing.
        var due = HostTime(nanoseconds: 0)
        var since = HostTime(nanoseconds: 0)
    }

    private var entries: [Entry] = Array(repeating: Entry(), count: capacity)
    private var highest = -1
    private let clockRate: Double
    /// The distance in packets of the remote peer's last repetition, and the packet that contained it.
    private var reach = (packets: 0, seen: -1)
    private var openCount = 0
    private var lastAsk: HostTime?
    /// The next time at which ``due(at:roundTrip:hold:into:)`` may find a packet; nil if only a packet can change that.
    private(set) var nextJoinRequest: HostTime?

    /// True if the remote peer stores what it sends now for retransmission: it does not store Opus instead of PCM.
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
        highest = -1
        openCount = 0
        nextJoinRequest = nil
        reach = (0, -1)
    }

    /// Records a packet that was not a repetition.
    /// - Returns: ``Arrival/had`` if it was recovered before.
    mutating func arrive(_ sequence: Int, position: Int, frameCount: Int, at now: HostTime) -> IncomingTransfer {
        guard sequence >= 0 else { return .new }
        if sequence > highest {
            noteGap(before: sequence, position: position, at: now)
            highest = sequence
        } else if let known = entry(sequence) {
            if known.state == .missing { openCount -= 1 }
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
        if openCount > 0, nextJoinRequest == nil { nextJoinRequest = now }
        return .new
    }

    private mutating func put(_ entry: Entry) {
        let slot = entry.sequence % Self.capacity
        if entries[slot].sequence >= 0, entries[slot].state == .missing { openCount -= 1 }
        entries[slot] = entry
        if entry.state == .missing { openCount += 1 }
    }

    private mutating func noteGap(before sequence: Int, position: Int, at now: HostTime) {
        guard highest >= 0, sequence > highest + 1 else { return }
        guard sequence - highest <= Self.longestGap, let last = entry(highest) else {
            let reach = reach
            restart()
            return self.reach = reach
        }
        for missing in highest + 1..<sequence {
            let place = min(position, last.position + last.frameCount * (missing - highest))
            put(
                Entry(
                    sequence: missing, position: place,
                    due: now.advanced(bySeconds: -Double(position - place) / clockRate), since: now))
        }
        let then = now.advanced(bySeconds: Self.reorderingTime)
        nextJoinRequest = nextJoinRequest.map { min($0, then) } ?? then
    }

    // MARK: Recovery

    /// Returns the number of the missing packet whose first frame is at `position`; nil if there is no such packet.
    func missing(at position: Int, frameCount: Int) -> Int? {
        var above: Entry?
        var sequence = highest
        while sequence > highest - Self.capacity, let known = entry(sequence) {
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

    /// Records a packet's copy that arrived before the packet was known to be missing.
    mutating func expect(_ sequence: Int, position: Int, at now: HostTime) {
        guard highest >= 0, (highest + 1...highest + RedundancyPlan.longest).contains(sequence) else { return }
        noteGap(before: sequence, position: position, at: now)
        highest = sequence
        put(Entry(sequence: sequence, position: position, due: now, since: now))
    }

    /// Records that a missing packet was recovered.
    /// - Returns: true if it was requested.
    mutating func recover(_ sequence: Int, position: Int, frameCount: Int) -> Bool {
        guard isMissing(sequence) else { return false }
        openCount -= 1
        entries[sequence % Self.capacity].state = .recovered
        entries[sequence % Self.capacity].position = position
        entries[sequence % Self.capacity].frameCount = frameCount
        return entries[sequence % Self.capacity].requestCount > 0
    }

    /// Records that the packet `sequence` repeated the one that many packets before it.
    mutating func recordRepetition(of packets: Int, by sequence: Int) {
        guard packets > 0, packets <= Self.longestGap else { return }
        let isOld = sequence - reach.seen > 32
        reach = (isOld ? packets : max(reach.packets, packets), sequence)
    }

    /// Records a retransmission without a request: the remote peer repeats each packet at this distance.
    mutating func recordUnrequested(_ sequence: Int) {
        guard let known = entry(sequence), known.requestCount == 0 else { return }
        recordRepetition(of: highest - sequence, by: highest)
    }

    // MARK: Requests

    /// Finds the packets to request now: each after the remote peer had time to repeat it unasked, and only if it can still be in
    /// time.
    /// - Parameters:
    ///   - roundTrip: the seconds of a round trip.
    ///   - hold: the seconds of the playout's delay.
    ///   - numbers: replaced by the numbers, ascending; at most 64.
    mutating func due(at now: HostTime, roundTrip: Double?, hold: Double, into numbers: inout [Int]) {
        numbers.removeAll(keepingCapacity: true)
        nextJoinRequest = nil
        guard openCount > 0, isKept, let roundTrip else { return }
        if let lastAsk, now.seconds(since: lastAsk) < Self.pause {
            return nextJoinRequest = lastAsk.advanced(bySeconds: Self.pause)
        }
        let wait = highest - reach.seen <= 32 ? reach.packets : 0
        var later: HostTime?
        for sequence in max(0, highest - Self.longestGap)..<max(0, highest) {
            guard let known = entry(sequence), known.state == .missing, known.requestCount < Self.maximumRequests else {
                continue
            }
            guard now.seconds(since: known.due) + roundTrip + Self.reorderingTime <= hold else { continue }
            if sequence + wait > highest { continue }  // a packet will come that carries it
            let rest = known.requestCount == 0 ? Self.reorderingTime : 1.5 * roundTrip + Self.pause
            let ripe = known.since.advanced(bySeconds: rest)
            if ripe > now {
                later = later.map { min($0, ripe) } ?? ripe
                continue
            }
            entries[sequence % Self.capacity].requestCount += 1
            entries[sequence % Self.capacity].since = now
            let again = now.advanced(bySeconds: 1.5 * roundTrip + Self.pause)
            later = later.map { min($0, again) } ?? again
            numbers.append(sequence)
        }
        if !numbers.isEmpty { lastAsk = now }
        nextJoinRequest = later
    }
}
