// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotCall
import EarshotMediaTransport
import EarshotRooms

/// A member's running process. It replaces `NearbySession` and `MediaPort` on virtual time, with the same cores.
final class MemberProcess {
    let member: SimulatedMember
    private unowned let world: StackSimulation
    private(set) var isRunning = true
    private(set) var core: SessionCore!
    private(set) var port: SimulatedPort!
    /// The member's call with its sound; nil in a simulation without sound.
    let sound: MemberSound?
    /// The time of the session's next tick.
    private(set) var due = HostTime.never
    private(set) var ticks = 0
    /// A deliberate defect of this process; nil for none.
    let defect: StackSimulation.Defect?
    private var hasStreamed = false
    /// The pending requests.
    private var calls: Set<SignallingNetwork.Call> = []
    private var lastProbe: UInt64 = 0
    private var lastProbeTimes: [KeyFingerprint: HostTime] = [:]

    init(_ member: SimulatedMember, _ world: StackSimulation, seed: UInt64) throws {
        self.member = member
        self.world = world
        var random = SeededRandom(seed: seed)
        defect = member.index == world.configuration.memberCount - 1 ? world.configuration.defect : nil
        sound = world.configuration.hasSound ? try MemberSound(member.index, world, defect, seed: random.next()) : nil
        port = SimulatedPort(world, self, client: sound?.client, seed: random.next())
        core = SessionCore(
            SessionCore.LocalPeer(
                identity: member.identity, name: member.name, addresses: member.addresses, port: StackSimulation.port,
                isMuted: member.isMuted),
            port: port, media: sound?.session, generator: SeededRandom(seed: random.next()))
        core.choices.policy = world.configuration.policy
        core.choices.isAnnounced = true
        sound?.session.isMuted = member.isMuted
        sound?.start()
    }

    /// Ends the process without leaving the room. The machine closes the process's connections, or vanishes with them if
    /// `isSilent`.
    func end(silently isSilent: Bool) {
        isRunning = false
        sound?.stop()
        world.signalling.dropConnections(of: self, silently: isSilent)
        due = .never
    }

    /// Runs the threads that have work: the card's, the media thread, the session.
    func run() {
        let now = world.now
        if let sound, sound.nextCallTime <= now {
            sound.runCycle(at: now)
            if sound.client.hasMedia { port.turn() }
        }
        if port.due <= now { port.turn() }
        if due <= now { tick() }
    }

    // MARK: Room

    var isIdle: Bool { if case .none = core.role { true } else { false } }
    var isHost: Bool { if case .host(let host) = core.role { !host.isClosed } else { false } }
    /// True while the process is a host, or a guest that hears its host.
    var isConnected: Bool {
        switch core.role {
        case .none: false
        case .host(let host): !host.isClosed
        case .guest(let guest): guest.isConnected
        }
    }

    func foundRoom() {
        guard let name = try? PeerName("Studio") else { return }
        core.host(core.makeRoomID(), name: name, knownPeers: member.knownPeers)
        world.log(member.index, "founds a room")
        perform([])
    }

    func join(_ host: SimulatedMember) {
        let endpoint = Endpoint(
            addresses: host.addresses.map { SocketAddress($0, port: StackSimulation.port) },
            key: .exactly(host.identity.fingerprint))
        guard !endpoint.addresses.isEmpty else { return }
        perform(core.join(endpoint, knownPeers: member.knownPeers, at: world.now))
    }

    func leave() {
        switch core.role {
        case .none: break
        case .host: handle(.host(.leave))
        case .guest: handle(.guest(.leave))
        }
    }

    func update() {
        sound?.session.isMuted = member.isMuted
        perform(core.update(name: member.name, isMuted: member.isMuted, at: world.now))
    }

    func renegotiate(_ other: SimulatedMember) {
        guard let id = core.roster?.member(with: other.identity.fingerprint)?.id else { return }
        handle(.media(.renegotiate(id)))
    }

    /// Handles discovered rooms as `NearbySession` does: asks each host of the same room to describe it, except this member's own
    /// host unless that is lost.
    func discover() {
        guard isRunning, let roster = core.roster else { return }
        for other in world.members where other.index != member.index && other.process?.isHost == true {
            let key = other.identity.fingerprint
            guard other.process?.core.roster?.room == roster.room, key != roster.hostKey || core.isHostLost,
                world.reaches(member.index, other.index),
                lastProbeTimes[key].map({ world.now.seconds(since: $0) > 5 }) ?? true
            else { continue }
            lastProbeTimes[key] = world.now
            probe(
                Endpoint(
                    addresses: other.addresses.map { SocketAddress($0, port: StackSimulation.port) },
                    key: .exactly(key)))
        }
    }

    // MARK: Events

    func handle(_ event: SessionCore.Event) {
        guard isRunning else { return }
        perform(core.handle([event], at: world.now))
    }

    func tick() {
        ticks += 1
        perform(core.tick(at: world.now))
    }

    func handle(_ event: MediaPortEvent) {
        guard isRunning, case .state(let peer, let state, let transportID) = event else { return }
        perform(core.transportChanged(peer, state, of: transportID, at: world.now))
    }

    func addressesChanged(_ addresses: [IPAddress]) {
        guard isRunning, defect != .hidesMoves else { return }
        port.setLocalAddresses(addresses)
        if let actions = core.addressesChanged(addresses, at: world.now) { perform(actions) }
    }

    func received(_ request: RoomRequest, _ id: RequestID, from caller: RequestOrigin) {
        guard isRunning else { return }
        perform(core.receive(request, id, from: caller, at: world.now))
    }

    func connectionLost(_ id: RequestID) { handle(.host(.connectionLost(id))) }

    func replied(
        _ call: SignallingNetwork.Call, _ reply: RoomReply, _ key: KeyFingerprint, _ address: SocketAddress
    ) {
        guard isRunning, calls.contains(call) else { return }
        if reply != .events { calls.remove(call) }
        if defect == .losesAnswers, case .answered = reply { return }
        switch call {
        case .guest(let id): handle(.guest(.replied(id, reply, provedBy: key, from: address)))
        case .probe:
            guard case .room(let info) = reply else { return }
            perform(
                core.handle(
                    [
                        .host(.peerDescribed(info, provedBy: key)),
                        .guest(.peerDescribed(info, provedBy: key, from: address)),
                    ],
                    at: world.now))
        }
    }

    func failed(_ call: SignallingNetwork.Call, _ failure: RequestFailure) {
        guard isRunning, calls.remove(call) != nil, case .guest(let id) = call else { return }
        handle(.guest(.callFailed(id, failure)))
    }

    func received(_ item: EventStreamParser.Item, on call: SignallingNetwork.Call) {
        guard isRunning, calls.contains(call), case .guest(let id) = call else { return }
        handle(.guest(.itemReceived(item, on: id)))
    }

    // MARK: Actions

    private func perform(_ actions: [SessionCore.Action]) {
        for action in actions { execute(action) }
        // A tick is a millisecond late, like the timer of `NearbySession`.
        due = core.nextDeadline.map { max(world.now, $0).advanced(bySeconds: 0.001) } ?? .never
    }

    private func execute(_ action: SessionCore.Action) {
        switch action {
        case .reply(let id, let reply): world.signalling.reply(id, reply)
        case .send(let bytes, let id): world.signalling.send(bytes, on: id)
        case .end(let id): world.signalling.end(id)
        case .call(let id, let request, let endpoint): call(.guest(id), request, endpoint)
        case .cancel(let id): cancel(.guest(id))
        case .probe(let endpoint): probe(endpoint)
        case .note(let key, let name, let isAccepted):
            core.knownPeers.note(key, as: name, isAccepted: isAccepted, date: 0)
            member.knownPeers.note(key, as: name, isAccepted: isAccepted, date: 0)
        case .block(let key, let name): member.knownPeers.block(key, as: name, date: 0)
        case .question(let id, _):
            world.after(member.decisionTime()) { [self] in handle(.host(.decide(id, isWelcome: true))) }
        case .left: cancelAll()
        case .needPIN, .becomesGuest, .announce, .forget, .withdraw: break
        case .entered, .becameHost, .hostNotification, .guestNotification, .transport, .noMedia, .negotiationFailed,
            .ended:
            note(action)
        }
    }

    /// Writes a report for the user to the log.
    private func note(_ action: SessionCore.Action) {
        switch action {
        case .entered(_, let me): log("is in as \(me)")
        case .becameHost(let roster): log("hosts in epoch \(roster.epoch)")
        case .hostNotification(.split(let info), _), .guestNotification(.split(let info), _):
            member.splits = member.splits.suffix(15) + [info]
            log("hears of another part in epoch \(info.epoch)")
        case .hostNotification(let notification, _): log("\(summary(notification))")
        case .guestNotification(.forged(let other), _): world.violate("member \(member.index): \(other.name) is forged")
        case .guestNotification(let notification, _): log("\(summary(notification))")
        case .transport(let other, let state): log("\(other.id) is \(summary(state))")
        case .noMedia(let other): log("no media from \(other.id)")
        case .negotiationFailed(let other, let error): log("no agreement with \(other.id): \(type(of: error))")
        case .ended(let ending): log("is out: \(summary(ending))")
        default: break
        }
    }

    private func log(_ line: String) { world.log(member.index, line) }

    // MARK: Requests

    private func call(_ call: SignallingNetwork.Call, _ request: RoomRequest, _ endpoint: Endpoint) {
        calls.insert(call)
        if defect == .neverReconnects, case .events = request {
            if hasStreamed { return }
            hasStreamed = true
        }
        world.signalling.call(call, request, endpoint, from: self)
    }

    private func cancel(_ call: SignallingNetwork.Call) {
        guard calls.remove(call) != nil else { return }
        world.signalling.cancel(call, of: self)
    }

    private func probe(_ endpoint: Endpoint) {
        lastProbe += 1
        let probeCall = SignallingNetwork.Call.probe(lastProbe)
        call(probeCall, .describe, endpoint)
        world.after(3) { [self] in cancel(probeCall) }
    }

    /// Cancels the pending requests after half a second, in which goodbyes arrive, as `NearbySession` does when it leaves a room.
    private func cancelAll() {
        let openCalls = calls
        world.after(0.5) { [self] in
            for call in openCalls.sorted(by: { $0.order < $1.order }) { cancel(call) }
        }
    }

    /// The number of pending requests.
    var callCount: Int { calls.count }
}

extension SignallingNetwork.Call {
    fileprivate var order: UInt64 {
        switch self {
        case .guest(let id): id.number
        case .probe(let number): number | 1 << 63
        }
    }
}
