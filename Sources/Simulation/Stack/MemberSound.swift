// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDevices
import EarshotCall
import EarshotMediaTransport
import EarshotRooms

/// The call of a member's process: the product's `CallSession` on a simulated card. Each member sends a different tone.
final class MemberSound {
    let session: CallSession
    let client: any MediaClient
    private let device: StackDevice
    private let tone: MemberTone
    private let microphone: AudioRing
    private let loudspeaker: AudioRing
    private let block: AudioBuffer
    private var capturedFrames = 0
    private var toneMeter: ToneMeter

    /// The frames of a cycle of 10 ms.
    private let blockFrameCount: Int

    init(_ index: Int, _ world: StackSimulation, _ defect: StackSimulation.Defect?, seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let rate = world.configuration.sampleRate
        blockFrameCount = Int(rate / 100)
        microphone = AudioRing(channelCount: 1, capacity: 8_192)
        loudspeaker = AudioRing(channelCount: 1, capacity: 8_192)
        block = AudioBuffer(channelCount: 1, frameCapacity: blockFrameCount)
        tone = MemberTone(index, sampleRate: rate)
        toneMeter = ToneMeter(toneCount: world.configuration.memberCount, sampleRate: rate)
        device = try StackDevice(
            SimulatedCard.Configuration(
                sampleRate: rate, blockFrameCount: blockFrameCount,
                driftPPM: 100 * (random.unit() - 0.5), source: microphone, sink: loudspeaker),
            startingAt: world.now.advanced(bySeconds: 0.01 * random.unit()))
        var preferences = CallPreferences(
            codec: world.configuration.codec, deviceRate: rate, deviceBlock: blockFrameCount)
        if world.configuration.codec == .opus { preferences.opusFrameMilliseconds = 20 }
        session = CallSession(preferences, device: device, cname: "member")
        client = WatchedClient(
            session.client as! any ClockedMediaClient, world.network, receivesNothing: defect == .losesSound)
    }

    func start() { try? session.start() }
    func stop() { session.stop() }

    /// The time of the card's next cycle.
    var nextCallTime: HostTime { device.nextCallTime }

    /// Runs the card's cycle: microphone, callback, loudspeaker.
    func runCycle(at now: HostTime) {
        tone.fill(block.channels[0], from: capturedFrames, count: blockFrameCount)
        capturedFrames += blockFrameCount
        microphone.writer.write(block.channels, frameCount: blockFrameCount)
        device.runCycle(at: now)
        var count = blockFrameCount
        while count == blockFrameCount {
            count = loudspeaker.reader.read(block.channels, frameCount: blockFrameCount).frameCount
            toneMeter.listen(UnsafeBufferPointer(start: block.channels[0], count: count))
        }
    }

    /// The measured levels of all members' tones in the loudspeaker's sound.
    var heard: ToneMeter { toneMeter }
}

/// A media client that tells the network which packet is being protected, so that the network detects an unprotected one.
private final class WatchedClient: ClockedMediaClient {
    private let client: any ClockedMediaClient
    private let network: StackNetwork
    /// True to drop all received packets, as a deliberate defect.
    private let receivesNothing: Bool

    init(_ client: any ClockedMediaClient, _ network: StackNetwork, receivesNothing: Bool) {
        self.client = client
        self.receivesNothing = receivesNothing
        self.network = network
    }

    var wakeup: Wakeup { client.wakeup }
    var realTimePriority: Int? { client.realTimePriority }
    var hasMedia: Bool { client.hasMedia }
    var nextDeadline: HostTime? { client.nextDeadline }

    func receive(_ packet: UnsafeRawBufferPointer, from peer: PeerID, at now: HostTime) {
        if !receivesNothing { client.receive(packet, from: peer, at: now) }
    }

    func receive(_ packet: UnsafeRawBufferPointer, from peer: PeerID, at now: HostTime, arrived: HostTime) {
        if !receivesNothing { client.receive(packet, from: peer, at: now, arrived: arrived) }
    }

    func pathChanged(to peer: PeerID) { client.pathChanged(to: peer) }

    func measured(roundTrip: Double, to peer: PeerID) { client.measured(roundTrip: roundTrip, to: peer) }

    func slept() { client.slept() }

    func sendMedia(at now: HostTime, _ send: MediaSend) { client.sendMedia(at: now) { watch($0, $1, send) } }

    func setOpen(_ isOpen: Bool, to peer: PeerID) { client.setOpen(isOpen, to: peer) }

    func leave(_ peer: PeerID, at now: HostTime, _ send: MediaSend) {
        client.leave(peer, at: now) { watch($0, $1, send) }
    }

    private func watch(_ packet: UnsafeRawBufferPointer, _ peer: PeerID, _ send: MediaSend) {
        network.packet = packet
        send(packet, peer)
        network.packet = nil
    }
}
