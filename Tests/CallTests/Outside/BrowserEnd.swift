// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotDiagnostics
import EarshotMediaTransport
import Foundation
import Synchronization
import TestSupport

@testable import EarshotCall

/// An end of a call that answers a browser, as a host of a room does: a port in ICE's lite mode on loopback.
final class BrowserEnd: @unchecked Sendable {  // constant but for the number, which one thread counts
    let end: SpeakingEnd
    let port: MediaPort
    private let identity: Identity
    private let count = Mutex(0)

    init(says said: [Float], seconds: Int) throws {
        end = try SpeakingEnd(says: said, seconds: seconds) { $0.codec = .opus }
        identity = try Identity.generate(hostNames: [], addresses: [.loopback], at: Int64(Date().timeIntervalSince1970))
        port = try MediaPort(identity: identity, address: .loopback, port: 0, client: end.session.client)
    }

    /// The last participant.
    var peer: PeerID { PeerID(count.withLock { $0 }) }
    var report: MediaPortReport? { port.report(of: peer) }
    var statistics: CallStatistics? { end.session.statistics(of: peer) }

    func start() throws {
        guard port.start() else { throw Browser.Failure(description: "no thread") }
        try end.session.start()
    }

    func stop() {
        end.session.stop()
        port.stop()
    }

    /// Answers an offer.
    /// - Parameter role: our role in the handshake.
    func answer(_ offer: String, as role: DTLSRole) throws -> String {
        let offer = try SessionDescription(parsing: offer)
        let peer = PeerID(
            count.withLock { count in
                count += 1
                return count
            })
        guard let ice = offer.ice, let certificate = offer.certificateFingerprint,
            let setup = offer.setup?.answer(preferring: role)
        else { throw Browser.Failure(description: "no ICE or DTLS in the offer") }
        var generator = SystemRandomNumberGenerator()
        let credentials = ICECredentials.random(using: &generator)
        var answer = try end.session.answer(offer, from: peer)
        answer.address = .loopback
        answer.port = port.localAddress.port
        answer.ice = .init(
            credentials: credentials, candidates: ICECandidate.hosts([.loopback], port: port.localAddress.port),
            isLite: true)
        answer.setup = setup
        answer.certificateFingerprint = identity.certificateFingerprint
        port.add(
            peer,
            LocalTransportParameters(mode: .lite, role: .controlled, credentials: credentials, allowsCounterMode: false)
        )
        port.setRemote(
            RemoteTransportParameters(
                credentials: ice.credentials, candidates: ice.candidates, certificate: certificate, dtlsRole: role),
            of: peer)
        return answer.description
    }

    /// The last participant leaves.
    func removeParticipant() {
        port.remove(peer)
        end.session.end(peer)
    }
}
