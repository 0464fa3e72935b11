// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase

/// A ``MediaPort`` without its socket, thread and clock: the transports of all remote peers, and the media of one client.
///
/// For one thread, the media thread.
package final class MediaPortCore {
    /// An order from another thread.
    package enum Order: Sendable {
        case add(PeerID, LocalTransportParameters, MediaPort.TransportID)
        case setRemote(PeerID, RemoteTransportParameters)
        case remove(PeerID)
        case message(PeerID, [UInt8])
    }

    package let client: (any MediaClient)?
    private var endpoint: MediaEndpoint
    private var generator: any RandomNumberGenerator
    private var transportIDs: [PeerID: MediaPort.TransportID] = [:]
    private let clocked: (any ClockedMediaClient)?
    private let clock: (() -> HostTime)?
    private var nextRoundTrips = HostTime(nanoseconds: .min)
    private let notify: (MediaPortEvent) -> Void
    private let deliverMessage: (PeerID, [UInt8]) -> Void

    /// - Parameters:
    ///   - generator: must be unpredictable, except in tests.
    ///   - clock: reads the host time just before a packet is sent, for its send time; nil for the time of the turn.
    ///   - notify: receives the events of the transports.
    ///   - deliverMessage: receives the messages of remote peers.
    package init(
        identity: Identity, client: (any MediaClient)?,
        generator: any RandomNumberGenerator = SystemRandomNumberGenerator(), clock: (() -> HostTime)? = nil,
        notify: @escaping (MediaPortEvent) -> Void, deliverMessage: @escaping (PeerID, [UInt8]) -> Void
    ) {
        SRTPSession.prepare()
        endpoint = MediaEndpoint(identity: identity)
        self.client = client
        self.clock = clock
        clocked = client as? any ClockedMediaClient
        self.generator = generator
        self.notify = notify
        self.deliverMessage = deliverMessage
    }

    /// Sets the local addresses, the most preferred first.
    package func setLocalAddresses(_ addresses: [IPAddress], at now: HostTime) {
        endpoint.setLocalAddresses(addresses, at: now)
    }

    /// Notes that the machine slept, a time that ``HostTime`` does not count.
    package func slept(for seconds: Double, at now: HostTime) {
        endpoint.slept(for: seconds, at: now)
        clocked?.slept()
    }

    package func execute(_ order: Order, at now: HostTime, _ transmit: MediaEndpoint.Transmit) {
        switch order {
        case .add(let peer, let setup, let transportID):
            if endpoint.add(peer, setup, at: now, using: &generator) {
                transportIDs[peer] = transportID
            } else {
                notify(.state(peer, .closed, of: transportID))
            }
        case .setRemote(let peer, let remote):
            do throws(TransportError) {
                try endpoint.setRemote(remote, of: peer, at: now)
            } catch {
                notify(.failed(error), of: peer)
            }
        case .remove(let peer): unsafe remove(peer, at: now, transmit)
        case .message(let peer, let bytes):
            unsafe bytes.withUnsafeBytes { unsafe try? endpoint.sendMessage($0, to: peer, transmit: transmit) }
        }
    }

    /// Closes all transports and notifies the remote peers.
    package func removeAll(at now: HostTime, _ transmit: MediaEndpoint.Transmit) {
        for peer in endpoint.peerIDs { unsafe remove(peer, at: now, transmit) }
    }

    private func remove(_ peer: PeerID, at now: HostTime, _ transmit: MediaEndpoint.Transmit) {
        unsafe client?.leave(peer, at: now) { unsafe endpoint.send($0, to: $1, transmit: transmit) }
        unsafe endpoint.remove(peer, transmit: transmit)
        transportIDs[peer] = nil
    }

    /// Handles a received datagram, with any content; a packet is decrypted in place.
    /// - Parameter arrived: the time at which the datagram reached this machine; nil for `now`.
    package func receive(
        _ datagram: UnsafeMutableRawBufferPointer, from source: SocketAddress, to local: IPAddress, at now: HostTime,
        arrived: HostTime? = nil, _ transmit: MediaEndpoint.Transmit
    ) {
        unsafe endpoint.receive(
            datagram, from: source, to: local, at: now, transmit: transmit,
            deliver: deliver(at: now, arrived: arrived ?? now))
        followPaths()
    }

    /// Sends the client's media, and does what is due.
    package func turn(at now: HostTime, _ transmit: MediaEndpoint.Transmit) {
        unsafe client?.sendMedia(at: now) {
            unsafe endpoint.send($0, to: $1, later: microseconds(since: now), transmit: transmit)
        }
        unsafe endpoint.tick(at: now, transmit: transmit, deliver: deliver(at: now, arrived: now))
        followPaths()
        if let clocked, nextRoundTrips <= now {
            nextRoundTrips = now.advanced(bySeconds: Self.roundTripInterval)
            for peer in endpoint.peerIDs {
                if let seconds = endpoint.roundTrip(of: peer) { clocked.measured(roundTrip: seconds, to: peer) }
            }
        }
    }

    /// The seconds between the checks of a path, each of which measures its round trip.
    private static let roundTripInterval = 1.0

    /// Returns the microseconds that the turn has taken so far; 0 if the client's packets have no send times.
    private func microseconds(since now: HostTime) -> UInt32 {
        guard clocked != nil, let clock else { return 0 }
        return UInt32(truncatingIfNeeded: max(0, clock().nanoseconds - now.nanoseconds) / 1_000)
    }

    private func followPaths() {
        guard !endpoint.movedPeers.isEmpty else { return }
        for peer in endpoint.takeMovedPeers() { clocked?.pathChanged(to: peer) }
    }

    /// The time of the next ``turn(at:_:)``; nil if only another method or captured frames can require one.
    package var nextDeadline: HostTime? {
        guard let due = client?.nextDeadline, let next = endpoint.nextDeadline else {
            return client?.nextDeadline ?? endpoint.nextDeadline
        }
        return min(due, next)
    }

    /// The IDs of all remote peers, in any state of their transports.
    package var peers: [PeerID] { endpoint.peerIDs }

    /// Returns the report on a remote peer's transport; nil for an unknown peer.
    package func report(of peer: PeerID) -> MediaPortReport? {
        guard let state = endpoint.state(of: peer), let statistics = endpoint.statistics(of: peer) else { return nil }
        return MediaPortReport(
            state: state, pair: endpoint.pair(of: peer), roundTrip: endpoint.roundTrip(of: peer),
            key: endpoint.key(of: peer), statistics: statistics)
    }

    private func deliver(at now: HostTime, arrived: HostTime) -> MediaEndpoint.Deliver {
        { [self] peer, event in
            switch event {
            case .packet(let packet):
                if let clocked {
                    unsafe clocked.receive(packet, from: peer, at: now, arrived: arrived)
                } else {
                    unsafe client?.receive(packet, from: peer, at: now)
                }
            case .message(let message): unsafe deliverMessage(peer, Array(message))
            case .state(let state):
                client?.setOpen(state.carriesMedia, to: peer)
                notify(state, of: peer)
            }
        }
    }

    private func notify(_ state: TransportState, of peer: PeerID) {
        if let transportID = transportIDs[peer] { notify(.state(peer, state, of: transportID)) }
    }
}
