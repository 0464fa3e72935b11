// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotMediaTransport

/// A guest of a room: it joins, keeps up with the host, returns after an interruption, and follows or becomes the next host.
///
/// A value without socket, thread or clock, as ``RoomHost``. It numbers its calls to other peers and times them out; the owner
/// carries them out and reports the results.
package struct RoomGuest: Sendable {
    /// A guest's description of itself.
    package struct Configuration: Sendable {
        /// The guest's name.
        package var name: PeerName
        /// The guest's purpose.
        package var purpose: Purpose?
        /// The guest's addresses.
        package var addresses: [IPAddress]
        /// The port of TCP and UDP.
        package var port: UInt16
        /// True if the guest is muted from the start.
        package var isMuted = false
        /// True if the guest records from the start.
        package var isRecording = false
        /// True if others may record the guest's voice, false if not; nil if the guest has not answered.
        package var allowsRecording: Bool?
        /// True if the guest's key is temporary.
        package var isEphemeral = false
        /// True if the user has given a PIN. A room without a PIN is then the wrong room.
        package var hasPIN = false

        /// Creates a guest's description.
        package init(name: PeerName, addresses: [IPAddress], port: UInt16 = JoinCode.usualPort) {
            self.name = name
            self.addresses = addresses
            self.port = port
        }

        /// Returns the guest's state where its entry in a roster differs: muting, recording and consent. (The name may differ
        /// because the host numbered it.) An update cannot remove an answer: if the guest has none and the entry has a consent,
        /// the update declines.
        func makeUpdate(correcting entry: Member) -> MemberUpdate {
            let answer: Bool? = allowsRecording ?? (entry.allowsRecording == true ? false : nil)
            return MemberUpdate(
                isMuted: entry.isMuted == isMuted ? nil : isMuted,
                isRecording: entry.isRecording == isRecording ? nil : isRecording,
                allowsRecording: entry.allowsRecording == answer ? nil : answer)
        }
    }

    /// Time limits in seconds.
    package enum Limit {
        /// The seconds after which a request fails, if the peer can answer it at once.
        static let call = 3.0
        /// The seconds after which a request to join fails without a decision by the user at the host.
        static let decision = RoomHost.Limit.decision + 5
        /// The seconds after which an offer fails without another member's answer.
        static let answer = RoomHost.Limit.answer + 2
        /// The seconds between two signs of life to the host.
        static let update = 1.5
        /// The minimum seconds between two withdrawals of a consent, so that a host that ignores them is not flooded.
        static let withdrawal = 1.0
        /// The seconds of the host's silence after which the guest looks for a host.
        package static let silence = RoomHost.Limit.silence
        /// The seconds of interruption after which a member must join again.
        package static let absence = RoomHost.Limit.absence
        /// The seconds for which another member's description of the room counts.
        static let freshness = 3.0
        /// The maximum seconds that the guest waits for other members' answers before it may take over.
        static let firstAnswers = 1.0
        /// The seconds after which a successor that does not answer is skipped.
        static let takeoverTimeout = 6.0
    }

    /// The guest's current description of itself.
    package internal(set) var configuration: Configuration
    /// The known peers of this machine.
    package var knownPeers: KnownPeers
    /// The reason that the guest's stay ended; nil before the end.
    package internal(set) var ending: RoomEnding?

    let signer: Signer
    var clock = SuspendAwareClock()
    var calls: [CallID: Call] = [:]
    var nextCall: UInt64 = 1
    var joining: Joining?
    var membership: Membership?
    var seeking: Seeking?
    var partsMet = PartitionDetector()

    /// Creates a guest that has not started.
    /// - Parameter signer: signs with the local key.
    package init(_ configuration: Configuration, signer: Signer, knownPeers: KnownPeers = KnownPeers()) {
        self.configuration = configuration
        self.signer = signer
        self.knownPeers = knownPeers
    }

    /// The roster as far as this guest knows; nil unless it is admitted.
    package var roster: Roster? { membership?.roster }
    /// This guest's own number.
    package var memberID: MemberID? { membership?.me }
    /// True if the guest is admitted and hears its host.
    package var isConnected: Bool { membership != nil && seeking == nil }

    /// Starts by calling the host.
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

    /// Returns the action that sends a request, and stores the request's purpose and deadline.
    mutating func call(
        _ request: RoomRequest, _ endpoint: Endpoint, _ purpose: Call.Purpose, _ seconds: Double, _ now: HostTime
    ) -> Action {
        let id = CallID(number: nextCall)
        nextCall += 1
        calls[id] = Call(purpose: purpose, deadline: now.advanced(bySeconds: seconds))
        return .call(id, request, endpoint)
    }

    /// Cancels the pending requests for which `isDropped` returns true.
    mutating func cancel(where isDropped: (Call.Purpose) -> Bool) -> [Action] {
        cancel(calls.filter { isDropped($0.value.purpose) }.map(\.key))
    }

    /// Cancels all pending requests and the event stream, but not requests to leave.
    mutating func hangUp() -> [Action] {
        let open = Set(calls.filter { $0.value.purpose != .leave }.keys).union([membership?.stream].compactMap { $0 })
        membership?.stream = nil
        membership?.lastStreamed = nil
        return cancel(Array(open))
    }

    private mutating func cancel(_ ids: [CallID]) -> [Action] {
        for id in ids { calls[id] = nil }
        return ids.sorted { $0.number < $1.number }.map { .cancel($0) }
    }

    /// Ends the guest's stay for this reason, and cancels its requests.
    mutating func finish(_ ending: RoomEnding) -> [Action] {
        let cancellations = hangUp()
        self.ending = ending
        joining = nil
        membership = nil
        seeking = nil
        return cancellations + [.notify(.over(ending))]
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
