// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioCodecs
import EarshotMediaTransport

/// The media of one call without its socket, thread and clock: captured frames in, datagrams for each remote peer out; their
/// datagrams in, packets for their playouts out. Time is an argument, so that a whole call runs in a test on virtual time.
///
/// A form that several remote peers take is encoded once.
package struct MediaCore: ~Copyable {
    /// Receives each datagram and its remote peer; valid during the call.
    package typealias Transmit = (UnsafeRawBufferPointer, PeerID) -> Void

    private struct Member {
        let id: PeerID
        let media: MediaPeer
        let lostBefore: Int
        var isOpen: Bool
        /// True if nothing was sent since it was opened: what had been captured by then is old.
        var isFresh = false
    }

    /// A remote peer that nothing is agreed on with for now.
    private struct SuspendedPeer {
        let past: MediaPeer.Past
        let lostBefore: Int
    }

    private var capture: CaptureReader
    private var members: [Member] = []
    private var suspended: [PeerID: SuspendedPeer] = [:]
    private var streams: [StreamEncoder] = []

    /// - Parameters:
    ///   - captured: what the device's callback records, at the device's rate; read here alone.
    ///   - deviceBlock: frames that the device calls with.
    package init(captured: AudioRing, channelCount: Int, deviceRate: Double, deviceBlock: Int) {
        capture = CaptureReader(
            captured, channelCount: channelCount, deviceRate: deviceRate, deviceBlock: deviceBlock)
    }

    /// Starts sending to this remote peer. If it takes part already, or is suspended, its media was renegotiated: it continues as
    /// the same source, without effect on others.
    /// - Parameter isOpen: whether there is a way to it already; else ``setOpen(_:to:)`` says when.
    package mutating func add(_ peer: MediaPeer, as id: PeerID, isOpen: Bool = true) {
        suspend(id)
        let previous = suspended.removeValue(forKey: id)
        if let previous { peer.follow(previous.past) }
        members.append(
            Member(id: id, media: peer, lostBefore: previous?.lostBefore ?? capture.lostFrames, isOpen: isOpen))
        if let stream = peer.stream, !streams.contains(where: { $0 === stream }) { streams.append(stream) }
    }

    /// Suspends media with a remote peer: nothing is sent to it or received from it.
    package mutating func suspend(_ id: PeerID) {
        guard let index = index(of: id) else { return }
        let member = removeMember(index)
        suspended[id] = SuspendedPeer(past: member.media.past, lostBefore: member.lostBefore)
    }

    private mutating func removeMember(_ index: Int) -> Member {
        let member = members.remove(at: index)
        if !members.contains(where: { $0.media.stream === member.media.stream }) {
            streams.removeAll { $0 === member.media.stream }
        }
        return member
    }

    /// Tells whether packets for this remote peer can be sent from now on. Unsent ones are not numbered: they are a gap of time, not
    /// of numbers.
    package mutating func setOpen(_ isOpen: Bool, to id: PeerID) {
        guard let index = index(of: id), members[index].isOpen != isOpen else { return }
        members[index].isOpen = isOpen
        members[index].isFresh = isOpen
        if !isOpen { members[index].media.interrupt() }
    }

    /// Sends a goodbye to this remote peer, if its transport is open, and removes it.
    /// - Returns: the peer; nil if the number is unknown.
    @discardableResult
    package mutating func remove(_ id: PeerID, at now: HostTime, transmit: Transmit) -> MediaPeer? {
        suspended[id] = nil
        guard let index = index(of: id) else { return nil }
        let member = removeMember(index)
        if member.isOpen { member.media.leave(at: now) { transmit($0, id) } }
        return member.media
    }

    /// Encodes and packetises what was captured since the last call.
    package mutating func sendCaptured(at now: HostTime, transmit: Transmit) throws(CodecError) {
        defer { capture.awaited = framesUntilNextPacket }
        while let block = capture.next() {
            // A remote peer takes what comes first for the delay of the way.
            let isOld = capture.hasFrames
            for stream in streams {
                var loss = 0
                for member in members where member.media.stream === stream { loss = max(loss, member.media.codecLoss) }
                stream.setExpectedLoss(percent: loss)
                try stream.encode(block, isWanted: leaveShared(stream)) {
                    (payload: UnsafeRawBufferPointer, position: Int, isAfterGap: Bool) in
                    // By index: a sequence of the members would hold the array, and each change would copy it.
                    for index in members.indices {
                        let member = members[index]
                        guard member.isOpen, member.media.stream === stream, !member.media.isOnItsOwn else { continue }
                        if member.isFresh {
                            if isOld { continue }
                            members[index].isFresh = false
                        }
                        member.media.send(payload, position: position, isAfterGap: isAfterGap, at: now) {
                            transmit($0, member.id)
                        }
                    }
                }
                try sendOwn(stream, isOld: isOld, at: now, transmit: transmit)
            }
        }
    }

    /// Tells those that are on their own from now on how far they have had what all have.
    /// - Returns: true if another peer shares the stream.
    private func leaveShared(_ stream: StreamEncoder) -> Bool {
        var (all, own) = (0, 0)
        for member in members where member.media.stream === stream {
            all += 1
            guard member.media.isOnItsOwn else { continue }
            own += 1
            member.media.leaveShared(at: stream.encodedEnd)
        }
        return own == 0 || own < all
    }

    /// Sends to those whose link was too slow.
    private mutating func sendOwn(
        _ stream: StreamEncoder, isOld: Bool, at now: HostTime, transmit: Transmit
    ) throws(CodecError) {
        for index in members.indices {
            let member = members[index]
            guard member.media.stream === stream, member.media.isOnItsOwn else { continue }
            guard member.isOpen, !(member.isFresh && isOld) else {
                member.media.interruptOwn()
                continue
            }
            members[index].isFresh = false
            try member.media.sendOwn(stream, at: now) { transmit($0, member.id) }
        }
    }

    /// Frames of the device until the next packet of any is complete, 1 or more.
    private var framesUntilNextPacket: Int {
        var least = Int.max
        for stream in streams {
            var isShared = false
            for member in members where member.media.stream === stream {
                if let own = member.media.framesUntilNextPacket(of: stream) {
                    least = min(least, own)
                } else {
                    isShared = true
                }
            }
            if isShared { least = min(least, stream.framesUntilNextPacket) }
        }
        return least
    }

    /// Receives a remote peer's datagram. Ignores unknown peers.
    package mutating func receive(_ datagram: UnsafeRawBufferPointer, from id: PeerID, at now: HostTime) {
        guard let index = index(of: id) else { return }
        members[index].media.receive(datagram, at: now)
    }

    /// Does what is due: reports to the remote peers, frames that have waited long enough for the ones before them.
    package mutating func tick(at now: HostTime, transmit: Transmit) {
        for member in members { member.media.tick(at: now, isOpen: member.isOpen) { transmit($0, member.id) } }
    }

    /// Says goodbye to a remote peer, which stays.
    package mutating func leave(_ id: PeerID, at now: HostTime, transmit: Transmit) {
        guard let index = index(of: id), members[index].isOpen else { return }
        members[index].media.leave(at: now) { transmit($0, id) }
    }

    /// When ``tick(at:transmit:)`` has something to do next; nil when only a packet can change that.
    package var nextDeadline: HostTime? {
        var next: HostTime?
        for member in members {
            if let due = member.media.nextDeadline { next = min(due, next ?? due) }
        }
        return next
    }

    /// Frames that the device calls with at present; what is captured waits no longer than four of them.
    var deviceBlock: Int {
        get { capture.deviceBlock }
        set { capture.deviceBlock = newValue }
    }

    /// Returns true if ``sendCaptured(at:transmit:)`` has a packet to send.
    var hasCaptured: Bool { capture.hasAwaited }

    /// Returns the network counts of a remote peer; nil if it is unknown.
    package func statistics(of id: PeerID) -> MediaStatistics? {
        guard let index = index(of: id) else { return nil }
        var statistics = members[index].media.statistics
        statistics.captureLostFrames = capture.lostFrames - members[index].lostBefore
        return statistics
    }

    /// Sets the bit rate that sound and redundancy for a remote peer may use together, in bits a second; nil for the usual.
    package mutating func setBudget(_ bitRate: Double?, for id: PeerID) {
        if let index = index(of: id) { members[index].media.budget = bitRate }
    }

    /// Sets a second playout that gets this remote peer's packets, from the next one on; nil for none.
    package mutating func listen(_ listener: RecordingPlayout?, to id: PeerID) {
        if let index = index(of: id) { members[index].media.listen(listener) }
    }

    /// Frames of the device that were read or lost before the next that is encoded.
    package var capturedFrames: Int { capture.position }

    /// The number of running encoders.
    package var streamCount: Int { streams.count }

    private func index(of id: PeerID) -> Int? { members.firstIndex { $0.id == id } }
}
