// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

@testable import EarshotCall

/// The change of a person's device, on virtual time.
extension ChangedCall {
    /// A time in which a person has no device, with the fades around it.
    struct Move {
        let person: Int
        let begin: HostTime
        var end: HostTime?
    }

    /// A card that a person has moved to.
    struct StartedCard {
        /// The time after which nothing is missing because of the move.
        let end: HostTime
        let gap: Double
        let blockTime: Double
    }

    /// The frames that a move may cost besides the time without a device: the fades of 5 ms, and 5 ms for the seams.
    static let moveFrameCount = 720
    /// The seconds after the first block in which a move can be heard: those of the playout, which conceals.
    private static let moveEnd = 0.1

    /// Lets time pass while a person's session opens a device or waits for a fade. The call goes on.
    func wait(_ seconds: Double) {
        let end = now.advanced(bySeconds: seconds)
        while let time = nextTime, time <= end { step(to: time) }
        advance(to: end)
    }

    /// A card is open, and the sound of the old one fades out.
    func beginMove(of person: Int) {
        moves.append(Move(person: person, begin: now, end: nil))
        gains.moves[person] += 1
        gains.update(at: now)
    }

    /// The new card was started: its first block ends `gap` seconds after the old card's last one.
    func noteMove(of person: Int, gap: Double, blockTime: Double) {
        startedCards[person] = StartedCard(end: now.advanced(bySeconds: gap + 0.5), gap: gap, blockTime: blockTime)
        guard let peer = peers[person] else { return }
        for other in present where other !== peer { allowMove(of: peer, heardBy: other) }
    }

    /// Allows the gap of a person's move in both directions.
    func allowMove(of peer: ChangedPeer, heardBy other: ChangedPeer) {
        guard let card = startedCards[peer.person], card.end > now else { return }
        let lost = Int(card.gap * Self.rate)
        let packets = [peer.session.statistics(of: other.peerID), other.session.statistics(of: peer.peerID)]
            .map { $0?.configuration.framesPerPacket ?? 0 }
        let more = Self.moveFrameCount + Int(card.blockTime * Self.rate)
        allowances.append(
            GapAllowance(
                kind: .device, listener: other.person, speaker: peer.person, end: card.end,
                frameCount: lost + packets[0] + more))
        // The own frames that could not be captured count too.
        allowances.append(
            GapAllowance(
                kind: .device, listener: peer.person, speaker: other.person, end: card.end,
                frameCount: 2 * lost + packets[1] + more))
    }

    /// The new card has its first block.
    func endMove(of person: Int) {
        guard let peer = peers[person], let index = moves.lastIndex(where: { $0.person == person }) else { return }
        moves[index].end = now
        gains.songShifts[person] += 1
        after(ExpectedGains.songDelayEnd) { [unowned self] in
            gains.songShifts[person] -= 1
            gains.update(at: now)
        }
        after(ExpectedGains.shiftEnd) { [unowned self] in
            guard peers[person] === peer else { return }
            gains.moves[person] -= 1
            gains.update(at: now)
        }
    }

    /// Returns true if a move can be heard at a time, which is rounded by at most a block and a card's start.
    func isMoving(at time: HostTime) -> Bool {
        moves.contains { move in
            let end = (move.end ?? now).advanced(bySeconds: Self.moveEnd)
            return move.begin <= time.advanced(bySeconds: 0.01) && time <= end
        }
    }

    /// Inspects a person's devices as the session's thread does.
    func inspectDevices(of peer: ChangedPeer) {
        guard peers[peer.person] === peer else { return }
        let seconds = peer.inspectDevices()
        after(seconds) { [unowned self] in inspectDevices(of: peer) }
    }
}
