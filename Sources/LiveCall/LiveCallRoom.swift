// SPDX-License-Identifier: Apache-2.0

import EarshotMediaTransport
import EarshotNearby
import EarshotRooms

/// The room of a ``LiveCall``: a `NearbySession`, whose documentation applies to each member, or a test's own.
package protocol LiveCallRoom: Sendable {
    /// The events, for one reader.
    var events: AsyncStream<NearbyEvent> { get }
    /// The unreliable messages, for one reader.
    var datagrams: AsyncStream<NearbyDatagram> { get }
    /// The messages, streams and files, for one reader.
    var arrivals: Mailbox<IncomingTransfer> { get }
    var fingerprint: KeyFingerprint { get }
    var port: UInt16 { get }
    var joinCodes: [JoinCode] { get async }
    var rememberedVolumes: PeerVolumes { get async }
    func host(
        _ room: PeerName, policy: AdmissionPolicy, pin: PIN?, capacity: Int, isAdvertised: Bool
    ) async throws(NearbyError)
    func join(_ endpoint: Endpoint, pin: PIN?, purpose: Purpose?) async throws(NearbyError)
    func provide(_ pin: PIN) async
    func decide(_ ask: JoinRequestID, isWelcome: Bool) async
    func block(_ ask: JoinRequestID) async
    func remove(_ member: MemberID) async
    func block(_ member: MemberID) async
    func setPolicy(_ policy: AdmissionPolicy) async
    func update(name: PeerName?, isMuted: Bool?, isRecording: Bool?, allowsRecording: Bool?) async
    func announceSong(_ title: String?, freePart: Int?) async
    func renegotiate(_ member: MemberID) async
    func storeVolumes(_ volumes: [PeerVolumes.Entry]) async
    func report(of member: MemberID) -> MediaPortReport?
    func sendDatagram(_ bytes: [UInt8], to member: MemberID)
    func send(_ bytes: [UInt8], to members: [MemberID]) async throws(TransferFailure)
    func sendFile(at path: String, to members: [MemberID]) async throws(TransferError) -> OutgoingFile
    func close(endsRoom: Bool) async
}

extension NearbySession: LiveCallRoom {}
