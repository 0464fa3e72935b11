// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioCodecs
import EarshotMediaTransport

/// The media of a call without socket, thread and clock: from captured frames to datagrams for each remote peer, and from their
/// datagrams to packets for their playouts. Time is an argument, so that a test can run a whole call on virtual time.
///
/// Sound in a form that several remote peers share is encoded once.
package struct MediaCore: ~Copyable {
    /// Receives each datagram, which is valid during the call, and the remote peer to send it to.
    package typealias Transmit = (UnsafeRawBufferPointer, PeerID) -> Void

    private struct Member {
        let id: PeerID
        let media: MediaPeer
        let lostAtJoining: Int  // captured frames lost before the peer joined
        var isOpen: Bool
        /// True if nothing was sent since the transport opened: frames captured before are too old.
        var isFresh = false
        /// True until the first packet was sent: the remote peer's decoder is new.
        var isNew = true
    }

    /// Media in another format that replace a member's media when the first packet of that format arrives, or at `due`.
    private struct Successor {
        let id: PeerID
        let media: MediaPeer
        let due: HostTime
    }

    /// A remote peer without negotiated media for now.
    private struct SuspendedPeer {
        let past: MediaPeer.Past
        let lostAtJoining: Int  // captured frames lost before the peer joined
    }

    private var capture: CaptureReader
    private var members: [Member] = []
    private var successors: [Successor] = []
    private var suspended: [PeerID: SuspendedPeer] = [:]
    private var streams: [StreamEncoder] = []

    /// - Parameters:
    ///   - captured: the frames of the device's callback at its rate; this is their only reader.
    ///   - deviceBlock: the frames of the device's block.
    package init(captured: AudioRing, channelCount: Int, deviceRate: Double, deviceBlock: Int) {
        capture = CaptureReader(
            captured, channelCount: channelCount, deviceRate: deviceRate, deviceBlock: deviceBlock)
    }

    /// Starts media with a remote peer. If the peer is a member or suspended, it has renegotiated: the local peer continues as
    /// the same source, without effect on other peers.
    /// - Parameter isOpen: true if the peer's transport is open; otherwise ``setOpen(_:to:)`` reports the opening.
    package mutating func add(_ peer: MediaPeer, as id: PeerID, isOpen: Bool = true) {
        activateSuccessor(of: id)
        suspend(id)
        let previous = suspended.removeValue(forKey: id)
        if let previous { peer.follow(previous.past) }
        members.append(
            Member(id: id, media: peer, lostAtJoining: previous?.lostAtJoining ?? capture.lostFrames, isOpen: isOpen))
        if let stream = peer.stream, !streams.contains(where: { $0 === stream }) { streams.append(stream) }
    }

    /// Suspends media with a remote peer: nothing is sent to it or received from it.
    package mutating func suspend(_ id: PeerID) {
        guard let index = index(of: id) else { return }
        let member = removeMember(index)
        suspended[id] = SuspendedPeer(past: member.media.past, lostAtJoining: member.lostAtJoining)
    }

    private mutating func removeMember(_ index: Int) -> Member {
        let member = members.remove(at: index)
        successors.removeAll { $0.id == member.id }
        if !members.contains(where: { $0.media.stream === member.media.stream }) {
            streams.removeAll { $0 === member.media.stream }
        }
        return member
    }

    /// Sets whether the transport to a remote peer is open. While it is closed, packets get no numbers: the gap is only in
    /// time.
    package mutating func setOpen(_ isOpen: Bool, to id: PeerID) {
        guard let index = index(of: id), members[index].isOpen != isOpen else { return }
        members[index].isOpen = isOpen
        members[index].isFresh = isOpen
        // While the transport was closed the remote peer may have slept, which stops its clock.
        if isOpen { media(of: id)?.clock?.restart(keepingOffset: false) } else { members[index].media.interrupt() }
    }

    /// Sends a goodbye to a remote peer, if its transport is open, and removes the peer.
    /// - Returns: the peer's media; nil if the peer is not a member.
    @discardableResult
    package mutating func remove(_ id: PeerID, at now: HostTime, transmit: Transmit) -> MediaPeer? {
        suspended[id] = nil
        guard let index = index(of: id) else { return nil }
        let member = removeMember(index)
        if member.isOpen { member.media.leave(at: now) { transmit($0, id) } }
        return member.media
    }

    /// Encodes and sends what was captured since the last call.
    package mutating func sendCaptured(at now: HostTime, transmit: Transmit) throws(CodecError) {
        defer { capture.awaited = framesUntilNextPacket }
        while let block = capture.next() {
            // A peer whose transport has just opened gets only the newest block: late packets would look like network delay.
            let isOld = capture.hasFrames
            for stream in streams {
                var loss = 0
                for member in members where member.media.stream === stream { loss = max(loss, member.media.codecLoss) }
                stream.setExpectedLoss(percent: loss)
                welcome(to: stream, isOld: isOld)
                try stream.encode(block, isWanted: leaveShared(stream)) {
                    (payload: UnsafeRawBufferPointer, position: Int, isAfterGap: Bool) in
                    // By index, because an iterator would retain the array, and each change would copy the array.
                    for index in members.indices {
                        let member = members[index]
                        guard member.isOpen, member.media.stream === stream, !member.media.usesOwnEncoder else {
                            continue
                        }
                        if member.isFresh {
                            if isOld { continue }
                            members[index].isFresh = false
                        }
                        members[index].isNew = false
                        member.media.send(payload, position: position, isAfterGap: isAfterGap, at: now) {
                            transmit($0, member.id)
                        }
                    }
                }
                try sendOwn(stream, isOld: isOld, at: now, transmit: transmit)
            }
        }
    }

    /// Lets the next packets of a stream need no earlier ones if a member gets its first packet. It may miss the first ones of a
    /// new encoder, too.
    private func welcome(to stream: StreamEncoder, isOld: Bool) {
        for member in members where member.isNew && member.isOpen && member.media.stream === stream {
            if !member.media.usesOwnEncoder, !(member.isFresh && isOld) { stream.beginIndependent() }
        }
    }

    /// Tells the members with their own encoder up to which frame they have the shared stream.
    /// - Returns: true if the shared encoder must make payloads: not all members of the stream have their own encoder.
    private func leaveShared(_ stream: StreamEncoder) -> Bool {
        var (all, own) = (0, 0)
        for member in members where member.media.stream === stream {
            all += 1
            guard member.media.usesOwnEncoder else { continue }
            own += 1
            member.media.leaveShared(at: stream.encodedEnd)
        }
        return own == 0 || own < all
    }

    /// Sends to the members with their own encoder.
    private mutating func sendOwn(
        _ stream: StreamEncoder, isOld: Bool, at now: HostTime, transmit: Transmit
    ) throws(CodecError) {
        for index in members.indices {
            let member = members[index]
            guard member.media.stream === stream, member.media.usesOwnEncoder else { continue }
            guard member.isOpen, !(member.isFresh && isOld) else {
                member.media.interruptOwn()
                continue
            }
            members[index].isFresh = false
            try member.media.sendOwn(stream, at: now) { transmit($0, member.id) }
        }
    }

    /// The device's frames until the next packet of any member is complete, at least 1.
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
    /// - Parameter arrived: the time at which the datagram reached this machine; nil for `now`.
    package mutating func receive(
        _ datagram: UnsafeRawBufferPointer, from id: PeerID, at now: HostTime, arrived: HostTime? = nil
    ) {
        guard let index = index(of: id) else { return }
        if !successors.isEmpty, let next = successor(of: id), next.begins(with: datagram, after: members[index].media) {
            activateSuccessor(of: id)
            return receive(datagram, from: id, at: now, arrived: arrived)
        }
        members[index].media.receive(datagram, at: now, arrived: arrived ?? now)
    }

    /// Prepares media in another format that replace a member's media when the first packet of that format arrives, at the
    /// latest after ``successorTimeout`` seconds. Until the remote peer has changed, it may be unable to receive the new format.
    /// - Returns: false if the peer is no member with an open transport, or if the format has the same payload type.
    mutating func prepare(_ peer: MediaPeer, as id: PeerID, at now: HostTime) -> Bool {
        guard let index = index(of: id), members[index].isOpen else { return false }
        activateSuccessor(of: id)
        guard let index = self.index(of: id),
            members[index].media.configuration.payloadType != peer.configuration.payloadType
        else { return false }
        successors.append(Successor(id: id, media: peer, due: now.advanced(bySeconds: Self.successorTimeout)))
        return true
    }

    /// The maximum seconds for which a successor waits.
    private static let successorTimeout = 1.0

    private func successor(of id: PeerID) -> MediaPeer? { successors.first { $0.id == id }?.media }

    /// Replaces a member's media by their successor, if there is one.
    private mutating func activateSuccessor(of id: PeerID) {
        guard let place = successors.firstIndex(where: { $0.id == id }) else { return }
        let next = successors.remove(at: place)
        if let index = index(of: id) { add(next.media, as: id, isOpen: members[index].isOpen) }
    }

    /// Does for each member what is due: reports, requests, retransmissions, and the end of waits for reordered frames.
    package mutating func tick(at now: HostTime, transmit: Transmit) {
        while let next = successors.first(where: { $0.due <= now }) { activateSuccessor(of: next.id) }
        for member in members { member.media.tick(at: now, isOpen: member.isOpen) { transmit($0, member.id) } }
    }

    /// Sends a goodbye to a remote peer, which remains a member.
    package mutating func leave(_ id: PeerID, at now: HostTime, transmit: Transmit) {
        guard let index = index(of: id), members[index].isOpen else { return }
        members[index].media.leave(at: now) { transmit($0, id) }
    }

    /// The time of the next ``tick(at:transmit:)``; nil if only a packet can require one.
    package var nextDeadline: HostTime? {
        var next: HostTime?
        for member in members {
            if let due = member.media.nextDeadline { next = min(due, next ?? due) }
        }
        for successor in successors { next = min(successor.due, next ?? successor.due) }
        return next
    }

    /// The frames of the device's present block. Captured frames wait for at most four blocks, or 50 ms if that is longer.
    var deviceBlock: Int {
        get { capture.deviceBlock }
        set { capture.deviceBlock = newValue }
    }

    /// Returns true if enough frames were captured for the next packet of ``sendCaptured(at:transmit:)``.
    var hasCaptured: Bool { capture.hasAwaited }

    /// Returns the network counts of a remote peer; nil if it is not a member.
    package func statistics(of id: PeerID) -> MediaStatistics? {
        guard let index = index(of: id) else { return nil }
        var statistics = members[index].media.statistics
        statistics.captureLostFrames = capture.lostFrames - members[index].lostAtJoining
        return statistics
    }

    /// Sets the bits a second for a remote peer's sound and redundancy together; nil for the default.
    package mutating func setBudget(_ bitRate: Double?, for id: PeerID) {
        if let index = index(of: id) { members[index].media.budget = bitRate }
    }

    /// Accepts packets of more formats from a remote peer, because an offer to it contains them.
    mutating func receive(_ formats: [PayloadFormat], from id: PeerID) {
        if let index = index(of: id) { (successor(of: id) ?? members[index].media).receive(formats) }
    }

    /// Notes the look-ahead of a remote peer's Opus encoder by the last description.
    mutating func expect(opusLookahead: Int, from id: PeerID) {
        if let index = index(of: id) {
            (successor(of: id) ?? members[index].media).describedLookahead = opusLookahead
        }
    }

    /// Sets a second playout that gets this remote peer's packets; nil for none.
    package mutating func listen(_ listener: RecordingPlayout?, to id: PeerID) {
        if let index = index(of: id) { (successor(of: id) ?? members[index].media).listen(listener) }
    }

    /// Notes that media with a remote peer takes another path: the estimate of the peer's clock ages until there is a new one.
    package mutating func pathChanged(to id: PeerID) {
        media(of: id)?.clock?.restart(keepingOffset: true)
    }

    /// Notes the seconds of a round trip to a remote peer, measured without its clock.
    package mutating func measured(roundTrip: Double, to id: PeerID) {
        media(of: id)?.clock?.addRoundTrip(roundTrip)
    }

    /// Notes that the machine slept: no remote peer's clock is known until it is estimated again.
    package mutating func slept() {
        for member in members { member.media.clock?.restart(keepingOffset: false) }
        for peer in suspended.values { peer.past.media.clock?.restart(keepingOffset: false) }
    }

    /// Returns the media of a member or of a suspended peer.
    private func media(of id: PeerID) -> MediaPeer? {
        index(of: id).map { members[$0].media } ?? suspended[id]?.past.media
    }

    /// The device's frames that were read or lost before the next frame to encode.
    package var capturedFrames: Int { capture.position }

    /// The number of running encoders.
    package var streamCount: Int { streams.count }

    private func index(of id: PeerID) -> Int? { members.firstIndex { $0.id == id } }
}
