// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport
import TestSupport

@testable import EarshotRooms

/// A machine with Earshot and a user: a host, a guest, or neither.
final class Peer {
    /// A user's choices, which other members see.
    struct Choices: Equatable {
        var isMuted = false
        var isRecording = false
        var allowsRecording: Bool?

        /// Applies an update, in which nil changes nothing.
        mutating func apply(_ update: MemberUpdate) {
            isMuted = update.muted ?? isMuted
            isRecording = update.recording ?? isRecording
            allowsRecording = update.allowsRecording ?? allowsRecording
        }
    }

    let index: Int
    let key: TestKey
    let address: IPAddress
    unowned let network: Network
    var host: RoomHost?
    var guest: RoomGuest?
    var known = KnownPeers()
    /// True if its user wants to be in the room.
    var wantsIn = false
    /// True if nobody admits it.
    var isStranger = false
    var isRunning = true
    var isStopped = false
    var backlog: [() -> Void] = []
    var planned: HostTime?
    /// The sessions by the key of the other member.
    var sessions: [KeyFingerprint: String] = [:]
    /// Its description in offers and answers, which differs for each process.
    var description = "process 0"
    private var processCount = 0
    var offering: Set<KeyFingerprint> = []
    var endings: [RoomEnding] = []
    var splits: [RoomInfo] = []
    var probes: Set<CallID> = []
    var nextProbe: UInt64 = 1 << 40
    /// The number of times that a former host returned as a guest.
    var returns = 0
    /// The choices of the present process's user, kept as `SessionCore` keeps them.
    private(set) var choices: Choices
    /// Draws the choices, so that the network's generator draws only the disturbances.
    private var choiceRandom: SeededRandom
    /// True if the peer has been in its current room.
    private var hasEntered = false

    init(_ index: Int, network: Network) {
        self.index = index
        self.network = network
        key = TestKey(index)
        address = RoomsTests.address(index)
        var seeds = network.random
        var random = SeededRandom(seed: seeds.next() &+ UInt64(index))
        choices = Choices(
            isMuted: random.below(2) == 0, isRecording: random.below(2) == 0,
            allowsRecording: Peer.drawChange(&random))
        choiceRandom = random
    }

    /// Draws nil for no change or no answer, true or false.
    private static func drawChange(_ random: inout SeededRandom) -> Bool? {
        switch random.below(3) {
        case 0: nil
        case 1: true
        default: false
        }
    }

    var roster: Roster? { host?.isClosed == false ? host?.roster : guest?.roster }
    var isHost: Bool { isRunning && host?.isClosed == false }

    /// Returns true if this peer's roster has another peer, or this peer itself, with the choices of its user. Without an answer
    /// the roster has none, or a refusal: a new host may have one from an earlier process.
    func shows(_ other: Peer) -> Bool {
        guard let entry = roster?.member(with: other.key.fingerprint) else { return false }
        let isAnswerRight =
            entry.allowsRecording == other.choices.allowsRecording
            || other.choices.allowsRecording == nil && entry.allowsRecording == false
        return entry.isMuted == other.choices.isMuted && entry.isRecording == other.choices.isRecording && isAnswerRight
    }

    var secret: [UInt8] { (0..<32).map { _ in UInt8.random(in: 0...255, using: &network.random) } }

    var hostConfiguration: RoomHost.Configuration {
        var configuration = RoomHost.Configuration(name: RoomsTests.name("Peer \(index)"), addresses: [address])
        configuration.isMuted = choices.isMuted
        configuration.isRecording = choices.isRecording
        configuration.allowsRecording = choices.allowsRecording
        return configuration
    }

    // MARK: Its user

    func found(_ room: RoomID) {
        hasEntered = true
        host = RoomHost(
            room: room, name: RoomsTests.name("Studio"), key: key.fingerprint, secret: secret,
            configuration: hostConfiguration)
    }

    func join(_ other: Peer) {
        join(Endpoint(addresses: [SocketAddress(other.address, port: 47_400)], key: .any))
    }

    func join(_ endpoint: Endpoint) {
        guard isRunning, !isHost, guest == nil || guest?.ending != nil else { return }
        host = nil
        var configuration = RoomGuest.Configuration(name: RoomsTests.name("Peer \(index)"), addresses: [address])
        configuration.isMuted = choices.isMuted
        configuration.isRecording = choices.isRecording
        configuration.allowsRecording = choices.allowsRecording
        var guest = RoomGuest(configuration, signer: key.signer, knownPeers: known)
        let actions = guest.join(endpoint, at: network.now)
        self.guest = guest
        perform(actions)
    }

    func leave() {
        if isHost { performHost { $0.leave(at: network.now) } } else { performGuest { $0.leave(at: network.now) } }
    }

    /// Changes its choices, each for itself.
    func choose() {
        let update = MemberUpdate(
            isMuted: network.random.below(2) == 0, isRecording: Peer.drawChange(&choiceRandom),
            allowsRecording: Peer.drawChange(&choiceRandom))
        guard isRunning else { return }
        choices.apply(update)
        if isHost {
            performHost { $0.update(update, at: network.now) }
        } else {
            performGuest { $0.update(update, at: network.now) }
        }
    }

    /// The peer was admitted.
    func enter() { hasEntered = true }

    /// The stay in a room, or the attempt to join one, has ended. The answer about recordings was for the room.
    func endStay() {
        if hasEntered { choices.allowsRecording = nil }
        hasEntered = false
    }

    /// Looks for a room if it is in none, like discovery and a user's click.
    func look() {
        guard wantsIn, isRunning, !isStopped, !isHost, guest == nil || guest?.ending != nil else { return }
        let hosts = network.peers.filter { $0.isHost && !$0.isStopped && network.reach(index, $0.index) }
        if let host = hosts.min(by: { $0.key.fingerprint.hex < $1.key.fingerprint.hex }) { join(host) }
    }

    /// Discovers the hosts that it reaches.
    func discover() {
        guard isHost, !isStopped else { return }
        for other in network.peers
        where other.isHost && !other.isStopped && other.index != index && network.reach(index, other.index) {
            if let info = other.host?.info(at: network.now) {
                performHost { $0.met(info, provedBy: other.key.fingerprint, at: network.now) }
            }
        }
    }

    // MARK: Its process

    func crash() {
        isRunning = false
        isStopped = false
        backlog = []
        host = nil
        guest = nil
        sessions = [:]
        offering = []
        choices = Choices()
        hasEntered = false
        network.dropConnections(of: index)
    }

    func restart() {
        isRunning = true
        processCount += 1
        description = "process \(processCount)"
    }

    /// Returns true if the present processes of both have what the other has offered or answered. If one of them has not, media
    /// fails, and the offering member offers again.
    func hasSession(with other: KeyFingerprint) -> Bool {
        guard let peer = network.peers.first(where: { $0.key.fingerprint == other }) else { return false }
        return sessions[other] == peer.description && peer.sessions[key.fingerprint] == description
    }

    func stop() { isStopped = isRunning }

    func resume() {
        isStopped = false
        let late = backlog
        backlog = []
        for body in late { body() }
        tick()
    }

    /// Defers events while the process is stopped.
    func whenAwake(_ body: @escaping () -> Void) {
        if isStopped { backlog.append(body) } else if isRunning { body() }
    }

    // MARK: Messages from the network

    func received(_ request: RoomRequest, _ id: RequestID, _ caller: RequestOrigin) {
        whenAwake { [self] in
            if host != nil {
                performHost { $0.received(request, as: id, from: caller, at: network.now) }
            } else if guest != nil {
                performGuest { $0.received(request, as: id, at: network.now) }
            } else {
                network.reply(id, .refused(.notHost))
            }
        }
    }

    func lost(_ id: RequestID) { whenAwake { [self] in performHost { $0.connectionLost(id, at: network.now) } } }

    func replied(_ id: CallID, _ reply: RoomReply, _ key: KeyFingerprint, _ from: SocketAddress) {
        whenAwake { [self] in
            if probes.remove(id) != nil {
                if case .room(let info) = reply { performHost { $0.met(info, provedBy: key, at: network.now) } }
            } else {
                performGuest { $0.replied(id, reply, provedBy: key, from: from, at: network.now) }
            }
        }
    }

    func failed(_ id: CallID, _ failure: RequestFailure) {
        whenAwake { [self] in
            guard probes.remove(id) == nil else { return }
            performGuest { $0.failed(id, failure, at: network.now) }
        }
    }

    func received(_ item: EventStreamParser.Item, _ id: CallID) {
        whenAwake { [self] in performGuest { $0.received(item, on: id, at: network.now) } }
    }

    func tick() {
        guard isRunning, !isStopped else { return }
        performHost { $0.tick(at: network.now) }
        performGuest { $0.tick(at: network.now) }
    }

    func plan() {
        guard let next = [host?.nextDeadline, guest?.nextDeadline].compactMap({ $0 }).min() else { return }
        if let planned, planned > network.now, planned <= next { return }
        let wait = max(0.001, next.seconds(since: network.now))
        planned = network.now.advanced(bySeconds: wait)
        network.after(wait) { [self] in tick() }
    }

    /// A user who was told of another part moves to the one with the smaller key, if it still exists.
    func reunite() {
        guard isRunning, !isStopped, isHost, let room = host?.roster.room else { return }
        let isReachable = splits.contains { info in
            info.room == room && info.hostKey.hex < key.fingerprint.hex
                && network.peers.contains {
                    $0.key.fingerprint == info.hostKey && $0.isHost && !$0.isStopped && network.reach(index, $0.index)
                }
        }
        if isReachable { leave() }
    }

    /// Offers media to all earlier members.
    func offerMedia() {
        guard isRunning, !isStopped, let roster else { return }
        for member in roster.members {
            guard let other = member.key, !hasSession(with: other), !offering.contains(other) else { continue }
            guard let me = isHost ? roster.host : guest?.memberID, me != member.id,
                Roster.offerer(between: me, and: member.id) == me
            else { continue }
            let offer = OfferID(from: me, number: network.random.next() >> 20)
            if isHost {
                performHost {
                    $0.offer(SignedDescription(offer: offer, sdp: description), to: member.id, at: network.now)
                }
            } else {
                offering.insert(other)
                performGuest { $0.offer(description, as: offer, to: member.id, at: network.now) }
            }
        }
    }
}
