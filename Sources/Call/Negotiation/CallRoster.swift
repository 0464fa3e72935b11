// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioCodecs
import EarshotAudioDevices
import EarshotMediaTransport
import EarshotPlayout
import Synchronization

/// The remote peers of a call: what was agreed on with each, and what plays it. Any thread; one at a time gets in.
final class CallRoster: Sendable {
    private let preferences: CallPreferences
    private let cname: String
    private let mixer: PeerMixer
    private let media: CallMedia
    private let farSides: Mutex<FarSides>
    private let outputLatency = Atomic<UInt64>(0)  // a double's bits

    /// Streams go over to the media thread in a `MediaPeer`; here it is only remembered which there are.
    private struct FarSides: @unchecked Sendable {
        var all: [PeerID: PeerMediaState] = [:]
        var recording: CallRecording?
        /// The dial of every playout that is heard, whatever an agreement says.
        var dial: PlayoutDial
    }

    private struct PeerMediaState {
        /// Tells its description from those of other calls.
        let sessionID = UInt64.random(in: 1...UInt64(Int64.max))
        var version: UInt64 = 0
        var offer: SessionDescription?
        var seat: Seat?
        var gain: Float = 1
        /// The counts of ended playouts, and the rate of the last one's stream.
        var past: (statistics: PlayoutStatistics, rate: Double)?

        /// Keeps what the seat's playout counted, which is about to go.
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
        /// Nil if it sends nothing.
        let heard: (playout: Playout, place: PeerMixer.Place)?
        /// Nil if it is sent nothing.
        let stream: StreamEncoder?
    }

    init(_ preferences: CallPreferences, cname: String, mixer: PeerMixer, media: CallMedia) {
        self.preferences = preferences
        self.cname = cname
        self.mixer = mixer
        self.media = media
        farSides = Mutex(FarSides(dial: preferences.dial))
    }

    var peers: Set<PeerID> { farSides.withLock { Set($0.all.filter { $1.seat != nil }.keys) } }

    // MARK: Offer and answer

    func offer(to peer: PeerID) throws -> SessionDescription {
        try farSides.withLock { farSides in
            var farSide = farSides.all[peer] ?? PeerMediaState()
            if preferences.direction != .inactive { try Self.expectRoom(farSides, for: peer) }
            var offer = try preferences.peerOffer(address: .any, port: Self.port, sessionID: farSide.sessionID)
            Self.count(&offer, of: &farSide)
            farSide.offer = offer
            farSides.all[peer] = farSide
            return offer
        }
    }

    func answer(_ offer: SessionDescription, from peer: PeerID) throws -> SessionDescription {
        try farSides.withLock { farSides in
            var farSide = farSides.all[peer] ?? PeerMediaState()
            var answer = try preferences.answer(
                to: offer, address: .any, port: Self.port, sessionID: farSide.sessionID)
            Self.count(&answer, of: &farSide)
            let agreement = try preferences.agreement(answer: answer, to: offer)
            try seat(peer, &farSide, agreement, among: farSides)
            farSides.all[peer] = farSide
            return answer
        }
    }

    func accept(_ answer: SessionDescription, from peer: PeerID) throws {
        try farSides.withLock { farSides in
            guard var farSide = farSides.all[peer], let offer = farSide.offer else { throw CallError.notOffered(peer) }
            let agreement = try preferences.agreement(offer: offer, answer: answer)
            try seat(peer, &farSide, agreement, among: farSides)
            farSides.all[peer] = farSide
        }
    }

    func end(_ peer: PeerID) {
        farSides.withLock { farSides in
            guard let farSide = farSides.all.removeValue(forKey: peer) else { return }
            media.end(peer)
            farSides.recording?.remove(peer)
            if let heard = farSide.seat?.heard { mixer.remove(heard.place) }
        }
    }

    func setGain(_ gain: Float, of peer: PeerID) {
        farSides.withLock { farSides in
            farSides.all[peer]?.gain = gain
            if let heard = farSides.all[peer]?.seat?.heard { mixer.setGain(gain, at: heard.place) }
        }
    }

    func gain(of peer: PeerID) -> Float? { farSides.withLock { $0.all[peer]?.gain } }

    /// The dial of all present and later remote peers.
    var dial: PlayoutDial {
        get { farSides.withLock { $0.dial } }
        set {
            farSides.withLock { farSides in
                farSides.dial = newValue
                for farSide in farSides.all.values { farSide.seat?.heard?.playout.dial = newValue }
            }
        }
    }

    /// The discard service's: what stands in a description until somebody knows better.
    private static let port: UInt16 = 9

    /// Descriptions of one session count up (RFC 3264 §8).
    private static func count(_ description: inout SessionDescription, of farSide: inout PeerMediaState) {
        farSide.version += 1
        description.origin.version = farSide.version
    }

    private static func expectRoom(_ farSides: FarSides, for peer: PeerID) throws(CallError) {
        let others = farSides.all.filter { $0.key != peer && $0.value.seat != nil }
        guard others.count < CallSession.maximumFarSides else { throw .full }
    }

    // MARK: Seats

    /// Makes what was agreed on so. Where this throws, all is as it was.
    private func seat(
        _ peer: PeerID, _ farSide: inout PeerMediaState, _ agreement: NegotiatedMedia?, among farSides: FarSides
    ) throws {
        if farSide.seat?.agreement == agreement { return }
        let old = farSide.seat
        guard let agreement else {
            farSide.remember()
            farSide.seat = nil
            media.rest(peer)
            farSides.recording?.remove(peer)
            if let heard = old?.heard { mixer.remove(heard.place) }
            return
        }
        try Self.expectRoom(farSides, for: peer)
        var configuration = agreement.configuration
        configuration.dial = farSides.dial
        let stream = agreement.direction.sends ? try stream(of: configuration, among: farSides) : nil
        let playout = agreement.direction.receives ? try Playout(configuration.playout) : nil
        let mediaPeer = try MediaPeer(
            configuration, stream: stream, playout: playout,
            session: RTPSession(
                ssrc: .random(in: 1 ... .max), cname: cname, payloadType: configuration.payloadType,
                clockRate: configuration.rtpClockRate, firstSequenceNumber: .random(in: 0...0x7FFF),  // see SRTPSession
                firstTimestamp: .random(in: 0 ... .max)))
        let listener = playout == nil ? nil : try farSides.recording?.listener(to: configuration)
        var heard: (Playout, PeerMixer.Place)?
        if let playout {
            guard let place = mixer.add(playout, gain: farSide.gain) else { throw CallError.full }
            heard = (playout, place)
        }
        farSide.remember()
        farSide.seat = Seat(agreement: agreement, heard: heard, stream: stream)
        media.add(mediaPeer, as: peer)
        farSides.recording?.replace(peer, by: listener)
        if let listener { media.listen(listener, to: peer) }
        if let heard = old?.heard { mixer.remove(heard.place) }
    }

    /// The encoder of another remote peer that takes the same, or a new one.
    private func stream(
        of configuration: CallConfiguration, among farSides: FarSides
    ) throws(CodecError) -> StreamEncoder {
        let form = configuration.form
        for farSide in farSides.all.values {
            if let stream = farSide.seat?.stream, stream.form == form { return stream }
        }
        return try StreamEncoder(configuration)
    }

    // MARK: Recording

    /// Lets another listen to all who are heard, and to those who come.
    func record(_ recording: CallRecording) throws {
        try farSides.withLock { farSides in
            var listeners: [PeerID: RecordingPlayout] = [:]
            for (peer, farSide) in farSides.all {
                guard let seat = farSide.seat, seat.heard != nil else { continue }
                listeners[peer] = try recording.listener(to: seat.agreement.configuration)
            }
            farSides.recording?.end()
            farSides.recording = recording
            recording.begin()
            for (peer, listener) in listeners {
                recording.replace(peer, by: listener)
                media.listen(listener, to: peer)
            }
        }
    }

    /// From now on nobody else listens.
    func endRecording() {
        farSides.withLock { farSides in
            farSides.recording?.end()
            farSides.recording = nil
            for (peer, farSide) in farSides.all where farSide.seat?.heard != nil { media.listen(nil, to: peer) }
        }
    }

    // MARK: How it stands

    /// After the device was started, or became another. One thread, that of the device's owner.
    func follow(_ device: any AudioDevice) {
        outputLatency.store(device.outputLatency.bitPattern, ordering: .relaxed)
    }

    func statistics(of peer: PeerID) -> CallStatistics? {
        farSides.withLock { farSides in
            guard let farSide = farSides.all[peer], let seat = farSide.seat else { return nil }
            var statistics = CallStatistics(
                configuration: seat.agreement.configuration, direction: seat.agreement.direction,
                media: media.statistics(of: peer) ?? MediaStatistics(rtp: RTPStatistics()))
            if let (playout, place) = seat.heard {
                statistics.playout = playout.statistics
                statistics.forecast = playout.forecast
                statistics.level = mixer.level(at: place)
            }
            if let past = farSide.past {
                let rate = statistics.configuration.streamRate
                statistics.playout.add(past.statistics, rateRatio: rate / past.rate)
            }
            statistics.configuration.dial = farSides.dial
            statistics.mouthToEar = estimateMouthToEar(statistics)
            return statistics
        }
    }

    /// The delay from the remote peer's microphone to this loudspeaker, as far as one end can know it: the remote peer's block
    /// and the codec, half a round trip, what playout holds, this device's output. Nil until both ways are known.
    private func estimateMouthToEar(_ statistics: CallStatistics) -> Double? {
        let playout = statistics.playout
        guard playout.isStarted, let roundTrip = statistics.media.rtp.roundTrip else { return nil }
        return statistics.configuration.codecDelay(framesPerPacket: playout.framesPerPacket) + roundTrip / 2
            + playout.delay + Double(bitPattern: outputLatency.load(ordering: .relaxed))
    }
}
