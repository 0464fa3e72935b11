// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioDevices
import EarshotMediaTransport
import Foundation
import TestSupport

@testable import EarshotCall

/// Two ``CallSession``s on virtual time, in steps of a block: cards that run their callbacks on request, and a network that
/// delays each sound packet on request. Calls use PCM, mono, at 48 kHz, without repair, so the packets do not depend on playout.
final class VirtualCall {
    static let block = 128
    static let rate = 48_000.0

    /// A card without a thread.
    final class Card: AudioDevice, @unchecked Sendable {  // of one thread
        let name = "virtual"
        let (sampleRate, blockFrameCount) = (VirtualCall.rate, VirtualCall.block)
        let (inputChannelCount, outputChannelCount) = (1, 1)
        let (inputLatency, outputLatency) = (0.0, 0.0)
        let realTimePriority: Int? = nil
        let monitor = CallbackMonitor()
        let failure: AudioDeviceError? = nil
        var callback: RenderCallback?

        func start(_ callback: RenderCallback) { self.callback = callback }
        func stop() { callback = nil }
    }

    final class End {
        let id: PeerID
        let card = Card()
        let session: CallSession
        let client: any MediaClient
        /// The sound that its microphone captures.
        var says: (_ frame: Int) -> Float = { _ in 0 }
        /// Returns true while the card makes no callbacks, as when a device is changed.
        var isStopped: (_ now: Double) -> Bool = { _ in false }
        /// The sound that its loudspeaker plays, from the first block on.
        var heard: [Float] = []
        fileprivate let (input, output) = (
            AudioBuffer(channelCount: 1, frameCapacity: VirtualCall.block),
            AudioBuffer(channelCount: 1, frameCapacity: VirtualCall.block)
        )
        fileprivate var sentCount = 0

        fileprivate init(_ number: Int, _ change: (inout CallPreferences) -> Void) throws {
            id = PeerID(number)
            var preferences = CallPreferences(
                codec: .pcm, deviceRate: VirtualCall.rate, deviceBlock: VirtualCall.block)
            (preferences.allowsRepair, preferences.changesRate) = (false, false)
            change(&preferences)
            session = CallSession(preferences, device: card, cname: "end \(number)")
            guard let client = session.client else { throw NoClient() }
            self.client = client
        }

        func heard(_ seconds: Range<Double>) -> ArraySlice<Float> {
            heard[Int(seconds.lowerBound * rate)..<Int(seconds.upperBound * rate)]
        }
    }

    struct NoClient: Error {}

    let ends: [End]
    /// The delay of a packet in seconds, by the sending end and the packet's number.
    var delay: (_ end: Int, _ number: Int) -> Double = { _, _ in 0.005 }
    private(set) var now = 0.0
    private var steps = 0
    private var flying: [(at: Double, to: Int, bytes: [UInt8])] = []

    var a: End { ends[0] }
    var b: End { ends[1] }

    init(_ change: (inout CallPreferences) -> Void = { _ in }) throws {
        ends = try (0..<2).map { try End($0, change) }
        for end in ends { try end.session.start() }
        try describe()
        for (one, other) in [(a, b), (b, a)] { one.client.setOpen(true, to: other.id) }
    }

    /// The first end offers, the second answers.
    func describe() throws {
        let offer = try a.session.offer(to: b.id)
        try a.session.accept(b.session.answer(offer, from: a.id), from: b.id)
    }

    func run(until seconds: Double) { run(until: seconds) { _ in } }

    /// Advances the time; `each` is called before each block.
    func run(until seconds: Double, each: (_ now: Double) throws -> Void) rethrows {
        while now < seconds {
            steps += 1
            now = Double(steps * Self.block) / Self.rate
            let due = flying.filter { $0.at <= now }.sorted { $0.at < $1.at }
            flying.removeAll { $0.at <= now }
            for flight in due {
                flight.bytes.withUnsafeBytes {
                    ends[flight.to].client.receive($0, from: PeerID(1 - flight.to), at: host(flight.at))
                }
            }
            try each(now)
            for index in ends.indices { turn(index) }
        }
    }

    private func host(_ seconds: Double) -> HostTime {
        HostTime(nanoseconds: 5_000_000_000).advanced(bySeconds: seconds)
    }

    private func turn(_ index: Int) {
        let end = ends[index]
        let first = (steps - 1) * Self.block
        for i in 0..<Self.block {
            end.input.channels[0][i] = end.says(first + i)
            end.output.channels[0][i] = 0
        }
        var cycle = IOCycle(
            frameCount: Self.block, sampleTime: Int64(first), hostTime: host(now), inputLatency: 0, outputLatency: 0,
            input: end.input.channels, output: end.output.channels)
        if !end.isStopped(now) { end.card.callback?(&cycle) }
        end.heard.append(contentsOf: UnsafeBufferPointer(start: end.output.channels[0], count: Self.block))
        end.client.sendMedia(at: host(now)) { packet, _ in
            var delay = 0.005
            if !(192...223).contains(packet[1]) {
                delay = self.delay(index, end.sentCount)
                end.sentCount += 1
            }
            flying.append((now + delay, 1 - index, Array(packet)))
        }
    }
}

/// Returns the largest step from a sample to the next.
func steepest(_ samples: some Collection<Float>) -> Float {
    zip(samples, samples.dropFirst()).reduce(0) { max($0, abs($1.0 - $1.1)) }
}
