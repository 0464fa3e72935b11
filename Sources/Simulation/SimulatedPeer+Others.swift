// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotCall
import EarshotMediaTransport
import EarshotPlayout

extension SimulatedPeer {
    /// The id of the other peer with the lowest number; the peer's own id if there is no other.
    package var firstOther: PeerID { agreements.keys.min { $0.rawValue < $1.rawValue } ?? id }
    /// The playout of the first other peer's voice, which must be heard.
    package var playout: Playout { playout(of: firstOther)! }
    package func playout(of peer: PeerID) -> Playout? { agreements[peer]?.heard?.playout }
    /// Returns the media with another peer.
    func media(for peer: PeerID) -> MediaPeer? { agreements[peer]?.media }
    /// Returns the level of another peer's voice; nil if the voice is not heard.
    package func level(of peer: PeerID) -> VoiceLevel? {
        agreements[peer]?.heard.map { processor.mixer.level(at: $0.place) }
    }
    package func setGain(_ gain: Float, of peer: PeerID) {
        if let heard = agreements[peer]?.heard { processor.mixer.setGain(gain, at: heard.place) }
    }
    /// The media statistics of the first other peer, for a call of two.
    package var statistics: MediaStatistics { statistics(of: firstOther) }
    package func statistics(of peer: PeerID) -> MediaStatistics {
        core.statistics(of: peer) ?? MediaStatistics(rtp: RTPStatistics())
    }

    /// Adds another peer, or changes the agreement with one.
    package func add(
        _ peer: PeerID, session: RTPSession, gain: Float = 1, _ configuration: CallConfiguration,
        direction: SessionDescription.Direction = .sendReceive
    ) throws {
        let old = agreements[peer]?.heard
        var heard: Heard?
        if direction.receives {
            let playout = try Playout(configuration.playout)
            guard let place = processor.mixer.add(playout, gain: gain) else {
                throw SimulationError.full(id.rawValue)
            }
            heard = Heard(playout: playout, place: place)
        }
        let stream =
            try streams[configuration.form]
            ?? (encoder: StreamEncoder(configuration), origin: core.capturedFrames)
        streams[configuration.form] = stream
        let media = try MediaPeer(
            configuration, stream: direction.sends ? stream.encoder : nil, playout: heard?.playout, session: session)
        core.add(media, as: peer)
        agreements[peer] = Agreement(configuration, media, heard, streamOrigin: stream.origin)
        remeasure(peer)
        if let old { processor.mixer.remove(old.place) }
        updateDeadline()
    }

    /// Restarts media with another peer as if this peer's program had restarted: with new RTP numbers, without a goodbye.
    func restart(_ peer: PeerID, session: RTPSession) throws {
        guard let agreement = agreements[peer] else { return }
        core.remove(peer, at: HostTime(nanoseconds: 0)) { _, _ in }  // no goodbye is sent
        let encoder = try StreamEncoder(agreement.configuration)
        let media = try MediaPeer(
            agreement.configuration, stream: encoder, playout: agreement.heard?.playout, session: session)
        core.add(media, as: peer)
        agreements[peer] = Agreement(
            agreement.configuration, media, agreement.heard, streamOrigin: core.capturedFrames)
        updateDeadline()
    }

    /// Suspends media with another peer.
    package func suspend(_ peer: PeerID) {
        core.suspend(peer)
        if let heard = agreements.removeValue(forKey: peer)?.heard { processor.mixer.remove(heard.place) }
    }

    /// Sends a goodbye to another peer and removes it.
    func remove(_ peer: PeerID, at now: HostTime, transmit: MediaCore.Transmit) {
        core.remove(peer, at: hostClock.hostTime(at: now), transmit: transmit)
        if let heard = agreements.removeValue(forKey: peer)?.heard { processor.mixer.remove(heard.place) }
    }

    /// Sends a goodbye to everybody without leaving.
    func sayGoodbye(at now: HostTime, transmit: MediaCore.Transmit) {
        for peer in agreements.keys.sorted(by: { $0.rawValue < $1.rawValue }) {
            core.leave(peer, at: hostClock.hostTime(at: now), transmit: transmit)
        }
    }
}
