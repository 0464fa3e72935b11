// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioCodecs
import EarshotAudioDevices
import EarshotMediaTransport
import EarshotPlayout
import Synchronization

/// The remote peers of a call: the media negotiated with each, and its playout. Any thread; calls exclude each other.
final class CallRoster: Sendable {
    private let cname: String
    private let mixer: PeerMixer
    private let media: CallMedia
    private let roster: Mutex<State>
    private let outputLatency = Atomic<UInt64>(0)  // in seconds, as the bits of a Double
    private let capturedBlock = Atomic<Int>(0)  // the frames of the capturing device's block; 0 before the start

    /// The state of all remote peers. Their encoders belong to the media thread; the state only refers to them.
    private struct State: @unchecked Sendable {
        var preferences: CallPreferences
        var all: [PeerID: PeerMediaState] = [:]
        var recording: CallRecording?
        /// The latency profile of all live playouts, whatever was negotiated.
        var latencyProfile: LatencyProfile
        /// The gains that outlive the media of their peers.
        var lastingGains: [PeerID: Float] = [:]

        /// Returns the state of a peer, or that of a new one.
        func peerState(_ peer: PeerID) -> PeerMediaState {
            all[peer] ?? PeerMediaState(gain: lastingGains[peer] ?? 1)
        }
    }

    private struct PeerMediaState {
        /// The session ID in the local peer's descriptions for this remote peer.
        let sessionID = UInt64.random(in: 1...UInt64(Int64.max))
        var version: UInt64 = 0
        /// The codecs that the remote peer does not offer or did not choose.
        var missingCodecs: Set<Codec> = []
        var offer: SessionDescription?
        /// The remote peer's own preferred milliseconds of an Opus packet; nil if it has none, or it is unknown.
        var remotePacketTime: Double?
        var seat: Seat?
        var gain: Float
        /// The counts of ended playouts, and the rate of the last one's stream.
        var past: (statistics: PlayoutStatistics, rate: Double)?

        init(gain: Float) { self.gain = gain }

        /// Adds the counts of the seat's playout to ``past``, before the seat is removed.
        mutating func remember() {
            guard let playout = seat?.heard?.playout else { return }
            let rate = playout.configuration.streamRate
            var statistics = playout.statistics
            if let past { statistics.add(past.statistics, rateRatio: rate / past.rate) }
            past = (statistics, rate)
        }
    }

    private struct Seat {
        let agreement: NegotiatedMedia
        /// The playout of the remote voice and its place in the mix; nil if the remote peer sends nothing.
        let heard: (playout: Playout, place: PeerMixer.Place)?
        /// The encoder for the remote peer; nil if the peer receives nothing.
        let stream: StreamEncoder?
        /// The codec for which `heard` was created.
        let playoutCodec: Codec

        /// The configuration for which `heard` was created; a recording decodes the same packets.
        var playoutConfiguration: CallConfiguration {
            var configuration = agreement.configuration
            configuration.codec = playoutCodec
            return configuration
        }

        /// Returns true if media may change to another agreement without a gap.
        func canContinue(as new: NegotiatedMedia) -> Bool {
            agreement.configuration.canContinue(as: new.configuration)
                && (heard != nil) == new.direction.receives && (stream != nil) == new.direction.sends
        }

        /// Returns the formats of an offer to which the media may change without a gap.
        func formats(in offer: SessionDescription) -> [PayloadFormat] {
            offer.formats.compactMap { format in
                guard Double(format.clockRate) == agreement.configuration.streamRate else { return nil }
                return format.codec.map { PayloadFormat(payloadType: format.payloadType, codec: $0) }
            }
        }
    }

    init(_ preferences: CallPreferences, cname: String, mixer: PeerMixer, media: CallMedia) {
        self.cname = cname
        self.mixer = mixer
        self.media = media
        roster = Mutex(State(preferences: preferences, latencyProfile: preferences.latencyProfile))
    }

    var peers: Set<PeerID> { roster.withLock { Set($0.all.filter { $1.seat != nil }.keys) } }

    /// The capabilities and wishes of the local peer.
    var preferences: CallPreferences { roster.withLock { $0.preferences } }

    /// Sets the preferred codec of later offers and answers.
    func setCodec(_ codec: Codec?, opusFrameMilliseconds: Double?) throws(CodecError) {
        try roster.withLock { roster throws(CodecError) in
            roster.preferences = try roster.preferences.preferring(codec, opusFrameMilliseconds: opusFrameMilliseconds)
        }
    }

    // MARK: Offer and answer

    func offer(to peer: PeerID) throws -> SessionDescription {
        try roster.withLock { roster in
            var peerState = roster.peerState(peer)
            var preferences = roster.preferences
            preferences.presentBlock = capturedBlock.load(ordering: .relaxed)
            if preferences.direction != .inactive { try Self.expectRoom(roster, for: peer) }
            var offer = try preferences.peerOffer(address: .any, port: Self.port, sessionID: peerState.sessionID)
            Self.count(&offer, of: &peerState)
            peerState.offer = offer
            roster.all[peer] = peerState
            if let seat = peerState.seat { media.receive(seat.formats(in: offer), from: peer) }
            expect(packetTime: peerState.remotePacketTime ?? offer.packetTime, from: peer)
            return offer
        }
    }

    func answer(_ offer: SessionDescription, from peer: PeerID) throws -> SessionDescription {
        try roster.withLock { roster in
            var peerState = roster.peerState(peer)
            // A remote peer with media offers again because its user chose another codec. The newest choice wins.
            var preferences = peerState.seat == nil ? roster.preferences : roster.preferences.withoutPreferredCodec()
            preferences.presentBlock = capturedBlock.load(ordering: .relaxed)
            var answer = try preferences.answer(
                to: offer, address: .any, port: Self.port, sessionID: peerState.sessionID)
            Self.count(&answer, of: &peerState)
            let agreement = try preferences.agreement(answer: answer, to: offer)
            peerState.missingCodecs = Set(Codec.allCases).subtracting(offer.formats.compactMap(\.codec))
            try seat(peer, &peerState, agreement, among: roster, isAnswer: true)
            peerState.remotePacketTime = offer.packetTime
            expect(packetTime: offer.packetTime ?? answer.packetTime, from: peer)
            roster.all[peer] = peerState
            return answer
        }
    }

    func accept(_ answer: SessionDescription, from peer: PeerID) throws {
        try roster.withLock { roster in
            guard var peerState = roster.all[peer], let offer = peerState.offer else {
                throw CallError.notOffered(peer)
            }
            let agreement = try roster.preferences.agreement(offer: offer, answer: answer)
            if let codec = agreement?.configuration.codec {
                peerState.missingCodecs.remove(codec)
                // In the first negotiation the remote peer's own preference wins.
                if peerState.seat != nil, let first = offer.formats.first?.codec, first != codec {
                    peerState.missingCodecs.insert(first)
                }
            }
            try seat(peer, &peerState, agreement, among: roster)
            // An answer repeats the offer's packet time, unless the remote peer prefers another.
            if answer.packetTime != offer.packetTime { peerState.remotePacketTime = answer.packetTime }
            expect(packetTime: answer.packetTime, from: peer)
            roster.all[peer] = peerState
        }
    }

    func end(_ peer: PeerID) {
        roster.withLock { roster in
            guard let peerState = roster.all.removeValue(forKey: peer) else { return }
            media.end(peer)
            roster.recording?.remove(peer)
            if let heard = peerState.seat?.heard { mixer.remove(heard.place) }
        }
    }

    func setGain(_ gain: Float, of peer: PeerID) {
        roster.withLock { roster in
            roster.all[peer]?.gain = gain
            if let heard = roster.all[peer]?.seat?.heard { mixer.setGain(gain, at: heard.place) }
        }
    }

    func setLastingGain(_ gain: Float, of peer: PeerID) {
        roster.withLock { $0.lastingGains[peer] = gain }
        setGain(gain, of: peer)
    }

    func gain(of peer: PeerID) -> Float? { roster.withLock { $0.all[peer]?.gain } }

    /// The latency profile of all current and later remote peers.
    var latencyProfile: LatencyProfile {
        get { roster.withLock { $0.latencyProfile } }
        set {
            roster.withLock { roster in
                roster.latencyProfile = newValue
                for peerState in roster.all.values { peerState.seat?.heard?.playout.latencyProfile = newValue }
            }
        }
    }

    /// Notes the milliseconds of the Opus packets that a remote peer will send; nil for the usual ones.
    private func expect(packetTime: Double?, from peer: PeerID) {
        media.expect(opusLookahead: OpusInCalls.lookahead(packetTime: packetTime), from: peer)
    }

    /// The port of the discard service, a placeholder in a description.
    private static let port: UInt16 = 9

    /// Gives a description the next version number (RFC 3264 §8).
    private static func count(_ description: inout SessionDescription, of peerState: inout PeerMediaState) {
        peerState.version += 1
        description.origin.version = peerState.version
    }

    private static func expectRoom(_ roster: State, for peer: PeerID) throws(CallError) {
        let others = roster.all.filter { $0.key != peer && $0.value.seat != nil }
        guard others.count < CallSession.maximumRemotePeers else { throw .full }
    }

    // MARK: Seats

    /// Applies the media negotiated with a remote peer; nil for none. Throws without changing any state.
    /// - Parameter isAnswer: true if the remote peer changes its media later, when it has the answer.
    private func seat(
        _ peer: PeerID, _ peerState: inout PeerMediaState, _ agreement: NegotiatedMedia?, among roster: State,
        isAnswer: Bool = false
    ) throws {
        let old = peerState.seat
        guard let agreement else {
            guard old != nil else { return }
            peerState.remember()
            peerState.seat = nil
            media.suspend(peer)
            roster.recording?.remove(peer)
            if let heard = old?.heard { mixer.remove(heard.place) }
            return
        }
        if let old, agreement.isSame(as: old.agreement) { return }
        if let old, old.canContinue(as: agreement) { return try change(peer, &peerState, old, agreement) }
        try Self.expectRoom(roster, for: peer)
        var configuration = agreement.configuration
        configuration.latencyProfile = roster.latencyProfile
        let stream = agreement.direction.sends ? try stream(of: configuration, among: roster) : nil
        let playout = agreement.direction.receives ? try Playout(configuration.playout) : nil
        let mediaPeer = try MediaPeer(
            configuration, stream: stream, playout: playout, session: session(for: configuration))
        let listener = playout == nil ? nil : try roster.recording?.listener(to: configuration)
        var heard: (Playout, PeerMixer.Place)?
        if let playout {
            guard let place = mixer.add(playout, gain: peerState.gain) else { throw CallError.full }
            heard = (playout, place)
        }
        peerState.remember()
        peerState.seat = Seat(
            agreement: agreement, heard: heard, stream: stream, playoutCodec: configuration.codec)
        media.add(mediaPeer, as: peer, waits: isAnswer && old?.stream != nil && stream != nil)
        roster.recording?.replace(peer, by: listener)
        if let listener { media.listen(listener, to: peer) }
        guard let before = old?.heard else { return }
        if let heard { mixer.remove(before.place, after: heard.1) } else { mixer.remove(before.place) }
    }

    /// Changes the format of running media without a gap: encoder, playout and recording continue.
    private func change(
        _ peer: PeerID, _ peerState: inout PeerMediaState, _ old: Seat, _ agreement: NegotiatedMedia
    ) throws(CodecError) {
        let mediaPeer = try MediaPeer(
            agreement.configuration, stream: old.stream, playout: old.heard?.playout,
            session: session(for: agreement.configuration), continuedCodec: old.playoutCodec)
        peerState.seat = Seat(
            agreement: agreement, heard: old.heard, stream: old.stream, playoutCodec: old.playoutCodec)
        media.add(mediaPeer, as: peer)
    }

    private func session(for configuration: CallConfiguration) -> RTPSession {
        RTPSession(
            ssrc: .random(in: 1 ... .max), cname: cname, payloadType: configuration.payloadType,
            clockRate: configuration.rtpClockRate, firstSequenceNumber: .random(in: 0...0x7FFF),  // see SRTPSession
            firstTimestamp: .random(in: 0 ... .max))
    }

    /// Returns the encoder of another remote peer with the same form, or a new encoder.
    private func stream(
        of configuration: CallConfiguration, among roster: State
    ) throws(CodecError) -> StreamEncoder {
        let form = configuration.form
        for peerState in roster.all.values {
            if let stream = peerState.seat?.stream, stream.form == form { return stream }
        }
        return try StreamEncoder(configuration)
    }

    // MARK: Recording

    /// Adds a recording playout to all current and later remote peers.
    func record(_ recording: CallRecording, includesRawVoice: Bool) throws(CodecError) {
        try roster.withLock { roster throws(CodecError) in
            var listeners: [PeerID: RecordingPlayout] = [:]
            for (peer, peerState) in roster.all {
                guard let seat = peerState.seat, seat.heard != nil else { continue }
                listeners[peer] = try recording.listener(to: seat.playoutConfiguration)
            }
            roster.recording?.end()
            roster.recording = recording
            recording.begin(includesRawVoice: includesRawVoice)
            for (peer, listener) in listeners {
                recording.replace(peer, by: listener)
                media.listen(listener, to: peer)
            }
        }
    }

    /// Removes all recording playouts.
    func endRecording() {
        roster.withLock { roster in
            roster.recording?.end()
            roster.recording = nil
            for (peer, peerState) in roster.all where peerState.seat?.heard != nil { media.listen(nil, to: peer) }
        }
    }

    // MARK: Device

    /// Stores the output latency of the device, which was started or changed. For the thread that owns the device.
    func follow(_ device: any AudioDevice, microphone: (any AudioDevice)?) {
        capturedBlock.store((microphone ?? device).blockFrameCount, ordering: .relaxed)
        outputLatency.store(device.outputLatency.bitPattern, ordering: .relaxed)
    }

    /// Returns the place of a remote voice in the mix; nil if the peer sends nothing.
    func place(of peer: PeerID) -> PeerMixer.Place? { roster.withLock { $0.all[peer]?.seat?.heard?.place } }

    func statistics(of peer: PeerID) -> CallStatistics? {
        roster.withLock { roster in
            guard let peerState = roster.all[peer], let seat = peerState.seat else { return nil }
            var statistics = CallStatistics(
                configuration: seat.agreement.configuration, direction: seat.agreement.direction,
                media: media.statistics(of: peer) ?? MediaStatistics(rtp: RTPStatistics()))
            if let (playout, place) = seat.heard {
                statistics.playout = playout.statistics
                statistics.forecast = playout.forecast
                statistics.level = mixer.level(at: place)
            }
            if let past = peerState.past {
                let rate = statistics.configuration.streamRate
                statistics.playout.add(past.statistics, rateRatio: rate / past.rate)
            }
            statistics.configuration.latencyProfile = roster.latencyProfile
            statistics.missingCodecs = peerState.missingCodecs
            let outputLatency = Double(bitPattern: outputLatency.load(ordering: .relaxed))
            statistics.mouthToEar = statistics.media.rtp.roundTrip.flatMap {
                statistics.mouthToEar(roundTrip: $0, outputLatency: outputLatency)
            }
            return statistics
        }
    }
}
