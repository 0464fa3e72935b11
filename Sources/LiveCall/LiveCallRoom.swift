import MediaTransport
import Nearby
import Rooms

/// The room of a ``LiveCall``: a `NearbySession`, or a test's own.
package protocol LiveCallRoom: Sendable {
    /// Everything that happens, for one reader.
    var events: AsyncStream<NearbyEvent> { get }
    /// Messages, streams and files, for one reader.
    var arrivals: Mailbox<Arrival> { get }
    /// The local participant's key.
    var fingerprint: KeyFingerprint { get }
    /// TCP and UDP.
    var port: UInt16 { get }
    /// Opens a room.
    func host(_ room: RoomOpening, admission: AdmissionPolicy) async throws(NearbyError)
    /// Asks a host to admit this participant.
    func join(_ endpoint: Endpoint, pin: PIN?, purpose: Purpose?) async throws(NearbyError)
    /// Gives the PIN that was asked for.
    func provide(_ pin: PIN) async
    /// Admits or declines a guest.
    func decide(_ request: AskID, isAdmitted: Bool) async
    /// Declines a guest and refuses later requests.
    func blockRequest(_ request: AskID) async
    /// Removes a participant.
    func remove(_ participant: MemberID) async
    /// Removes a participant and refuses later requests.
    func blockParticipant(_ participant: MemberID) async
    /// Sets which guests are admitted.
    func setAdmission(_ policy: AdmissionPolicy) async
    /// Tells the others a new name or whether the local participant is muted.
    func tell(name: PeerName?, isMuted: Bool?) async
    /// The join codes of this machine.
    func currentJoinCodes() async -> [JoinCode]
    /// The state of the transport to a participant; nil if there is none.
    func transportReport(of participant: MemberID) -> MediaPortReport?
    /// Sends a message.
    func send(_ bytes: [UInt8], to participants: [MemberID]) async throws(TransferFailure)
    /// Begins to send a file.
    func sendFile(at path: String, to participants: [MemberID]) async throws(TransferError) -> OutgoingFile
    /// Leaves and closes everything.
    func close(endsRoom: Bool) async
}

extension NearbySession: LiveCallRoom {
    /// Opens a room.
    package func host(_ room: RoomOpening, admission: AdmissionPolicy) async throws(NearbyError) {
        try await host(
            room.name, policy: admission, pin: room.pin, capacity: room.capacity, isAdvertised: room.isAnnounced)
    }

    /// Admits or declines a guest.
    package func decide(_ request: AskID, isAdmitted: Bool) { decide(request, isWelcome: isAdmitted) }

    /// Declines a guest and refuses later requests.
    package func blockRequest(_ request: AskID) { block(request) }

    /// Removes a participant and refuses later requests.
    package func blockParticipant(_ participant: MemberID) { block(participant) }

    /// Sets which guests are admitted.
    package func setAdmission(_ policy: AdmissionPolicy) { setPolicy(policy) }

    /// Tells the others a new name or whether the local participant is muted.
    package func tell(name: PeerName?, isMuted: Bool?) { update(name: name, isMuted: isMuted) }

    /// The join codes of this machine.
    package func currentJoinCodes() -> [JoinCode] { joinCodes }

    /// The state of the transport to a participant; nil if there is none.
    package nonisolated func transportReport(of participant: MemberID) -> MediaPortReport? { report(of: participant) }
}
