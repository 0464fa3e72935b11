// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDevices
import EarshotMediaTransport
import TestSupport

@testable import EarshotCall

/// A call's end in real time: a simulated card, a port with its thread on loopback, and a microphone that captures a tone of its
/// own.
final class LiveCall {
    static let frequencies = (0..<8).map { 300 + 110 * Double($0) }
    static let level = 0.1

    let number: Int
    let session: CallSession
    let port: MediaPort
    private let identity: Identity
    private let device: SimulatedDevice
    private let air: AudioRing
    private let room: AudioRing
    private var heard: [Float] = []

    var id: PeerID { PeerID(number) }

    /// - Parameter isSplit: true if the microphone is a separate card that is 300 ppm faster.
    init(_ number: Int, isSplit: Bool = false, _ change: (inout CallPreferences) -> Void = { _ in }) throws {
        self.number = number
        let (rate, block, seconds) = (48_000.0, 128, 12)
        air = AudioRing(channelCount: 1, capacity: seconds * Int(rate))
        room = AudioRing(channelCount: 1, capacity: seconds * Int(rate))
        let tone = AudioBuffer(channelCount: 1, frameCapacity: seconds * Int(rate))
        for frame in 0..<tone.frameCapacity {
            tone.channels[0][frame] = sine(
                frame, frequency: Self.frequencies[number], rate: rate, amplitude: Self.level)
        }
        air.writer.write(tone.channels, frameCount: tone.frameCapacity)
        var card = SimulatedCard.Configuration(
            sampleRate: rate, blockFrameCount: block, source: air, sink: room)
        var microphone: SimulatedDevice?
        if isSplit {
            microphone = try SimulatedDevice(
                SimulatedCard.Configuration(
                    sampleRate: rate, blockFrameCount: block, outputChannelCount: 0, driftPPM: 300, source: air))
            (card.inputChannelCount, card.source) = (0, nil)
        }
        device = try SimulatedDevice(card)
        var preferences = CallPreferences(deviceRate: rate, deviceBlock: block)
        change(&preferences)
        session = CallSession(preferences, device: device, microphone: microphone, cname: "end \(number)")
        identity = try Identity.generate(hostNames: [], addresses: [.loopback], at: 1_800_000_000)
        port = try MediaPort(identity: identity, address: .loopback, port: 0, client: session.client)
    }

    func start() throws {
        guard port.start() else { throw NoThread() }
        try session.start()
    }

    func stop() {
        session.stop()
        port.stop()
    }

    struct NoThread: Error {}

    // MARK: The session's part

    /// Offers a call and connects to the other end. All descriptions are exchanged as text.
    func call(_ other: LiveCall) throws {
        try describe(other)
        let (mine, theirs) = (credentials(), other.credentials())
        port.add(other.id, LocalTransportParameters(role: .controlling, credentials: mine))
        other.port.add(id, LocalTransportParameters(role: .controlled, credentials: theirs))
        other.port.setRemote(remote(mine, .client), of: id)
        port.setRemote(other.remote(theirs, .server), of: other.id)
    }

    /// Negotiates, again or for the first time.
    func describe(_ other: LiveCall, _ change: (inout SessionDescription) -> Void = { _ in }) throws {
        var offer = try session.offer(to: other.id)
        change(&offer)
        let answer = try other.session.answer(SessionDescription(parsing: offer.description), from: id)
        try session.accept(SessionDescription(parsing: answer.description), from: other.id)
    }

    /// Ends the call with the other end, on both sides.
    func part(from other: LiveCall) {
        for (one, another) in [(self, other), (other, self)] {
            one.port.remove(another.id)
            one.session.end(another.id)
        }
    }

    private func credentials() -> ICECredentials {
        var generator = SystemRandomNumberGenerator()
        return ICECredentials.random(using: &generator)
    }

    private func remote(_ credentials: ICECredentials, _ role: DTLSRole) -> RemoteTransportParameters {
        RemoteTransportParameters(
            credentials: credentials,
            candidates: ICECandidate.hosts([port.localAddress.address], port: port.localAddress.port),
            certificate: identity.certificateFingerprint, dtlsRole: role)
    }

    // MARK: The received sound

    /// Returns true if the other end's tone was heard in the last fifth of a second, at the level at which it was sent.
    func hears(_ other: LiveCall) -> Bool { abs(tone(of: other) - Self.level) < 0.1 * Self.level }

    /// Returns true if the other end's tone was not heard at all.
    func misses(_ other: LiveCall) -> Bool { tone(of: other) < 0.01 * Self.level }

    private func tone(of other: LiveCall) -> Double {
        listen()
        guard heard.count >= 9_600 else { return 0 }
        return amplitude(heard.suffix(9_600), frequency: Self.frequencies[other.number])
    }

    private func listen() {
        let block = AudioBuffer(channelCount: 1, frameCapacity: 4_800)
        while case let slice = room.reader.read(block.channels, frameCount: 4_800), slice.frameCount > 0 {
            heard.append(contentsOf: UnsafeBufferPointer(start: block.channels[0], count: slice.frameCount))
        }
    }

    /// Returns the largest step between frames since the last call.
    func steepest() -> Float {
        listen()
        defer { heard.removeAll() }
        return zip(heard, heard.dropFirst()).reduce(0) { max($0, abs($1.0 - $1.1)) }
    }

    func statistics(of other: LiveCall) -> CallStatistics? { session.statistics(of: other.id) }
}
