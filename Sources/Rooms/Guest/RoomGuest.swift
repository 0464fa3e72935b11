// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport

/// The side of a room that asks: it joins, keeps in step with the host, comes back after a cut, and follows or becomes the
/// next host when the host is gone.
///
/// A value without socket, thread or clock, as ``RoomHost``. It numbers its own calls to other peers and times them out
/// itself; the owner carries them, and hands in what comes back.
package struct RoomGuest: Sendable {
    /// A guest's description of itself.
    package struct Configuration: Sendable {
        /// Its name.
        package var name: PeerName
        /// The guest's purpose.
        package var purpose: Purpose?
        /// The guest's addresses.
        package var addresses: [IPAddress]
        /// TCP and UDP.
        package var port: UInt16
        /// True if it is muted from the start.
        package var isMuted = false
        /// True if its key is for this time only.
        package var isEphemeral = false
        /// True if the person has given a PIN. A room that asks for none is then not the right one.
        package var hasPIN = false

        /// A guest.
        package init(name: PeerName, addresses: [IPAddress], port: UInt16 = JoinCode.usualPort) {
            self.name = name
            self.addresses = addresses
            self.port = port
        }
    }

    /// Seconds.
    package enum Limit {
        /// Timeout of a request that a peer answers at once.
        static let call = 3.0
        /// Timeout of the decision by the person at the host.
        static let decision = RoomHost.Limit.decision + 5
        /// Timeout of another member's answer to an offer.
        static let answer = RoomHost.Limit.answer + 2
        /// Between signs of life.
        static let update = 1.5
        /// A host that is silent for longer is looked for.
        package static let silence = RoomHost.Limit.silence
        /// A member that is cut off for longer must join again.
        package static let absence = RoomHost.Limit.absence
        /// Seconds for which a member's information is used.
        static let freshness = 3.0
        /// Time for the other members to say what they know before one takes over.
        static let firstAnswers = 1.0
        /// Time after which a member that should take over and is not reached is skipped.
        static let takeoverTimeout = 6.0
    }

    /// The guest's present description of itself.
    package internal(set) var configuration: Configuration
    /// The peers that this machine knows.
    package var knownPeers: KnownPeers
    /// The reason that the guest ended; nil before.
    package internal(set) var ending: RoomEnding?

    let signer: Signer
    var clock = SuspendAwareClock()
    var calls: [CallID: Call] = [:]
    var nextCall: UInt64 = 1
    var joining: Joining?
    var membership: Membership?
    var seeking: Seeking?
    var partsMet = PartitionDetector()

    /// A guest that has not begun.
    /// - Parameter signer: one's own key.
    package init(_ configuration: Configuration, signer: Signer, knownPeers: KnownPeers = KnownPeers()) {
        self.configuration = configuration
        self.signer = signer
        self.knownPeers = knownPeers
    }

    /// The roster, as far as this guest knows; nil while it is not in.
    package var roster: Roster? { membership?.roster }
    /// This guest's own number.
    package var memberID: MemberID? { membership?.me }
    /// Returns true if the host is heard.
    package var isConnected: Bool { membership != nil && seeking == nil }

    /// Begins: calls the host.
    mutating func join(_ endpoint: Endpoint, _ now: HostTime) -> [Action] {
        precondition(joining == nil && membership == nil && ending == nil)
        joining = Joining(endpoint: endpoint)
        return [call(.describe, endpoint, .describe, Limit.call, now)]
    }

    /// The time by which ``Event/tick`` must be handled; nil if nothing is due.
    package var nextDeadline: HostTime? { due.map(clock.hostTime) }

    var due: HostTime? {
        guard ending == nil else { return calls.values.map(\.deadline).min() }
        var times = calls.values.map(\.deadline)
        if let seeking, let membership {
            times += [seeking.nextRound, membership.lastHeard.advanced(bySeconds: Limit.absence)]
        } else if let membership {
            times.append(membership.lastHeard.advanced(bySeconds: Limit.silence))
            if membership.stream == nil { times.append(membership.nextStream) }
            if let last = membership.lastStreamed { times.append(last.advanced(bySeconds: Limit.silence)) }
            if membership.update == nil { times.append(membership.nextUpdate) }
        }
        return times.min()
    }

    /// Makes a call and remembers what for.
    mutating func call(
        _ request: RoomRequest, _ endpoint: Endpoint, _ purpose: Call.Purpose, _ seconds: Double, _ now: HostTime
    ) -> Action {
        let id = CallID(number: nextCall)
        nextCall += 1
        calls[id] = Call(purpose: purpose, deadline: now.advanced(bySeconds: seconds))
        return .call(id, request, endpoint)
    }

    /// Gives calls up.
    mutating func cancel(where isDropped: (Call.Purpose) -> Bool) -> [Action] {
        cancel(calls.filter { isDropped($0.value.purpose) }.map(\.key))
    }

    /// Gives up everything that is open, the event stream too.
    mutating func hangUp() -> [Action] {
        let open = Set(calls.filter { $0.value.purpose != .leave }.keys).union([membership?.stream].compactMap { $0 })
        membership?.stream = nil
        membership?.lastStreamed = nil
        return cancel(Array(open))
    }

    private mutating func cancel(_ dropped: [CallID]) -> [Action] {
        for id in dropped { calls[id] = nil }
        return dropped.sorted { $0.number < $1.number }.map { .cancel($0) }
    }

    /// Ends it all.
    mutating func finish(_ ending: RoomEnding) -> [Action] {
        let dropped = hangUp()
        self.ending = ending
        joining = nil
        membership = nil
        seeking = nil
        return dropped + [.tell(.over(ending))]
    }

    mutating func expire(_ now: HostTime) -> [Action] {
        var actions: [Action] = []
        for (id, _) in calls.filter({ $0.value.deadline <= now }).sorted(by: { $0.key.number < $1.key.number }) {
            guard calls[id] != nil else { continue }
            actions += [.cancel(id)] + fail(id, .timedOut, now)
        }
        if seeking != nil { return actions + seek(now) }
        return membership == nil ? actions : actions + stayIn(now)
    }
}
