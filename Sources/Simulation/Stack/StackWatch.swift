// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport
import EarshotRooms

/// The agreement of a ``StackSimulation``'s members since the last disturbance, and the work of their threads.
struct StackWatch {
    /// The time since which all agree and are connected; nil while they do not.
    var settledSince: HostTime?
    /// True if the present settling was counted: all have agreed for ``StackSimulation/steadyTime`` seconds.
    var isCounted = false
    var settlings = 0
    var longestSettling = 0.0
    /// The number in the text of the last messages.
    var message = 0
    /// The wake-ups of each member's threads until the last check, by the member's index.
    var work: [Int: (process: ObjectIdentifier, ticks: Int, turns: Int)] = [:]

    mutating func disturbed() {
        settledSince = nil
        isCounted = false
    }
}

/// The checks, twice a second.
extension StackSimulation {
    private static let interval = 0.5
    /// The seconds of agreement after which members count as settled: more than a member needs to notice a silent host or silent
    /// media.
    private static let steadyTime = 6.0
    /// The maximum wake-ups a second of a session, and of a media thread.
    private static let tickLimit = 400
    private static let turnLimit = 6_000

    func checkMembers() {
        after(Self.interval) { [self] in checkMembers() }
        for text in network.clear where violations.allSatisfy({ $0.text != text }) { violate(text) }
        checkWork()
        checkGrowth()
        if trouble.end <= now { checkAgreement() }
        if let next = trouble.next, next <= now, let form = configuration.trouble { beginEpisode(form) }
    }

    private func checkAgreement() {
        guard let reason = disagreement else {
            let since = watch.settledSince ?? now
            watch.settledSince = since
            if !watch.isCounted, now.seconds(since: since) >= Self.steadyTime { settled(at: since) }
            return
        }
        watch.settledSince = nil
        if watch.isCounted {
            violate("no agreement without a cause: \(reason)")
        } else if now.seconds(since: trouble.end) > configuration.settlingLimit {
            violate("no agreement after \(configuration.settlingLimit) s: \(reason)")
        } else {
            return
        }
        disturbed(for: 0)
        trouble.end = now
    }

    private func settled(at time: HostTime) {
        watch.isCounted = true
        watch.settlings += 1
        let seconds = time.seconds(since: trouble.end)
        watch.longestSettling = max(watch.longestSettling, seconds)
        log(nil, "settled")
        sendMessages()
        if let form = configuration.trouble {
            trouble.next = now.advanced(bySeconds: trouble.seconds(in: form.quiet))
        }
    }

    // MARK: Agreement

    /// The reason that the members do not agree, are not connected or do not hear each other; nil if they do.
    package var disagreement: String? { unsettled ?? unheard }

    /// The reason that the members do not agree, or are not connected; nil if they are.
    private var unsettled: String? {
        let hosts = hosts
        guard hosts.count == 1, let host = hosts.first, let roster = host.process?.core.roster else {
            return "\(hosts.count) hosts"
        }
        for member in members {
            guard let process = member.process, process.isConnected else { return "member \(member.index) is out" }
            guard process.core.roster == roster else { return "member \(member.index) has another roster" }
        }
        guard roster.members.count == members.count else { return "\(roster.members.count) in the roster" }
        if let member = roster.members.first(where: \.isAway) { return "\(member.id) is away" }
        for member in members {
            guard let process = member.process else { continue }
            guard process.port.peers.count == members.count - 1 else {
                return
                    "member \(member.index) has \(process.port.peers.count) transports instead of \(members.count - 1)"
            }
            for other in members where other !== member {
                guard let id = roster.member(with: other.identity.fingerprint)?.id,
                    case .open? = process.port.report(of: PeerID(id))?.state
                else { return "no way from member \(member.index) to \(other.index)" }
            }
        }
        return nil
    }

    /// The member whose sound is missing, or heard though muted; nil if every member hears all others.
    private var unheard: String? {
        guard configuration.hasSound else { return nil }
        for listener in members {
            guard let sound = listener.process?.sound else { continue }
            for speaker in members where speaker !== listener {
                let (to, from) = (listener.index, speaker.index)
                if speaker.isMuted {
                    if !sound.heard.isSilent(from) { return "\(to) hears muted \(from)" }
                } else if !sound.heard.hears(from) {
                    return "\(to) does not hear \(from): \(Int(1_000 * sound.heard.amplitudes[from])) of 100"
                }
            }
        }
        return nil
    }

    // MARK: Messages

    /// Sends a message from each member to each, which must arrive, and must not be unencrypted on the network.
    private func sendMessages() {
        watch.message += 1
        let text = Array("the members' message \(watch.message)".utf8)
        network.secret = Array("the members' message".utf8)
        let number = watch.message
        guard let roster = members[0].process?.core.roster else { return }
        for member in members {
            for other in members where other !== member {
                guard let id = roster.member(with: other.identity.fingerprint)?.id else { continue }
                // Each message is sent four times, because datagrams may be lost.
                for _ in 0..<4 { member.process?.port.send(text, to: PeerID(id)) }
            }
        }
        after(1) { [self] in
            guard watch.isCounted, watch.message == number else { return }
            for member in members {
                let senders = Set(member.process?.port.messages.filter { $0.bytes == text }.map(\.peer) ?? [])
                if senders.count != members.count - 1 {
                    violate("member \(member.index) got the messages of \(senders.count) members")
                }
            }
        }
    }

    // MARK: Limits

    private func checkWork() {
        for member in members {
            guard let process = member.process else { continue }
            let (ticks, turns) = (process.ticks, process.port.turns)
            defer { watch.work[member.index] = (ObjectIdentifier(process), ticks, turns) }
            guard let last = watch.work[member.index], last.process == ObjectIdentifier(process) else { continue }
            if Double(ticks - last.ticks) > Self.interval * Double(Self.tickLimit) {
                violate("the session of member \(member.index) woke \(ticks - last.ticks) times in \(Self.interval) s")
            }
            if Double(turns - last.turns) > Self.interval * Double(Self.turnLimit) {
                violate(
                    "the media thread of member \(member.index) woke \(turns - last.turns) times in \(Self.interval) s")
            }
        }
    }

    private func checkGrowth() {
        let count = members.count
        let kept = [
            ("plans", agenda.count, 100 * count), ("connections", signalling.connectionCount, 60 * count),
            ("datagrams", network.inFlight, 400 * count * count),
            ("requests", members.map { $0.process?.callCount ?? 0 }.max() ?? 0, 60),
            ("transports", members.map { $0.process?.port.peers.count ?? 0 }.max() ?? 0, count + 2),
        ]
        for (name, number, limit) in kept where number > limit { violate("\(number) \(name) are kept") }
    }
}
