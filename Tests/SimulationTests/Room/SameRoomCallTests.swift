// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotDiagnostics
import EarshotMediaTransport
import Foundation
import TestSupport
import TestTraits
import Testing

@testable import EarshotCall
@testable import EarshotSimulation

/// Two people in one room, and in two, hold a whole call with headphones: a jitter buffer that adapts, and cards that differ.
@Suite(.optimized) struct SameRoomCallTests {
    private static let rate = 48_000.0

    /// Returns the second of the call at which the first peer finds the second one; nil if it does not.
    /// - Parameter change: changes the call.
    private func decision(
        isSameRoom: Bool, codec: Codec = .pcm, network: NetworkProfile = .lan, seed: UInt64 = 2,
        _ change: (inout CallSimulation.Configuration) -> Void = { _ in }
    ) throws -> Double? {
        let scene = SameRoomScene(isSameRoom: isSameRoom)
        let capture = scene.capture(seed: seed, try SameRoomVoices.sentences(RecordedSpeech.sentences))
        let microphones = [capture.microphone, capture.voice].map(Self.atDeviceRate)
        var configuration = CallSimulation.Configuration()
        configuration.codec = codec
        configuration.network = network
        configuration.latencyProfile = .sing
        configuration.peers = microphones.map { samples in
            var peer = CallSimulation.Configuration.Peer()
            peer.blockFrameCount = 128
            peer.sound = SimulatedSound { frame, _ in frame < samples.count ? samples[frame] : 0 }
            return peer
        }
        change(&configuration)
        var simulation = try CallSimulation(configuration)
        let peer = simulation.peers[0]
        var listener = SameRoomListener(sampleRate: Self.rate)
        peer.processor.setListening(true)
        while simulation.elapsed < 7.5 {
            try simulation.run(until: simulation.elapsed + 0.05)
            peer.processor.feed(&listener) { _ in Self.path(of: peer) }
            if !listener.nearbyPeers.isEmpty { return simulation.elapsed }
        }
        return nil
    }

    private static func path(of peer: SimulatedPeer) -> SameRoomListener.Path? {
        guard let (other, agreement) = peer.agreements.first, let heard = agreement.heard else { return nil }
        var statistics = CallStatistics(
            configuration: agreement.configuration, direction: .sendReceive, media: peer.statistics)
        statistics.playout = heard.playout.statistics
        let block = Double(peer.preferences.deviceBlock) / rate
        let roundTrip = statistics.media.rtp.roundTrip ?? 0
        guard let mouthToEar = statistics.mouthToEar(roundTrip: roundTrip, outputLatency: block) else { return nil }
        return SameRoomListener.Path(
            peer: other, mouthToEar: mouthToEar, captureDelay: block, inputLatency: block, outputLatency: block,
            streamRate: agreement.configuration.streamRate, driftPPM: statistics.playout.driftPPM)
    }

    @Test(arguments: [Codec.pcm, .opus], [true, false])
    func `in a call, two in one room are found within 5 s`(codec: Codec, isSameRoom: Bool) throws {
        let decision = try decision(isSameRoom: isSameRoom, codec: codec)
        print("same room \(isSameRoom), \(codec): \(decision.map { "\($0) s" } ?? "not found")")
        #expect(isSameRoom ? decision.map { $0 <= 5 } ?? false : decision == nil)
    }

    @Test(arguments: [3, 5] as [UInt64]) func `cards that drift apart, over Wi-Fi`(seed: UInt64) throws {
        let decision = try decision(isSameRoom: true, network: .wifiGood, seed: seed) {
            ($0.peers[0].driftPPM, $0.peers[1].driftPPM) = (80, -80)
        }
        print("same room, Wi-Fi, seed \(seed): \(decision.map { "\($0) s" } ?? "not found")")
        #expect(decision != nil)
    }

    private static func atDeviceRate(_ samples: [Float]) -> [Float] {
        TimedSignal(
            samples: samples, sampleRate: SameRoomDetector.sampleRate, firstFrameTime: HostTime(nanoseconds: 0)
        ).resampled(to: rate)
    }
}

@Suite(.optimized) struct SameRoomListenerTests {
    private static let rate = 48_000.0
    private static let block = 480

    /// Returns a listener to noise that one microphone hears, and that a voice repeats later.
    /// - Parameter playedDelay: the seconds of the voice's delay; another one for the listener makes the two differ.
    private func listener(delay: Double, playedDelay: Double, seconds: Double = 6, gapAt gap: Int? = nil)
        -> SameRoomListener
    {
        var random = SeededRandom(seed: 1)
        let sound = (0..<Int(7 * Self.rate)).map { _ in Float(random.unit() - 0.5) }
        var listener = SameRoomListener(sampleRate: Self.rate)
        let path = SameRoomListener.Path(
            peer: .init(2), mouthToEar: 0.03, captureDelay: delay - 0.03, inputLatency: 0, outputLatency: 0,
            streamRate: Self.rate, driftPPM: 0)
        let late = Int(playedDelay * Self.rate)
        for number in 0..<Int(seconds * Self.rate) / Self.block where number != gap {
            let first = number * Self.block
            listener.addMicrophone(Array(sound[first..<first + Self.block]), at: Int64(first))
            guard first >= late else { continue }
            listener.addVoice(
                Array(sound[first - late..<first - late + Self.block]), at: Int64(first), position: Double(first),
                path: path)
        }
        return listener
    }

    @Test func `a voice that the microphone hears is found, and one whose time differs is not`() {
        #expect(listener(delay: 0.04, playedDelay: 0.04).nearbyPeers == [.init(2)])
        #expect(listener(delay: 0.04, playedDelay: 0.046).nearbyPeers == [.init(2)])
        #expect(listener(delay: 0.04, playedDelay: 0.06).nearbyPeers.isEmpty)
        #expect(listener(delay: 0.04, playedDelay: 0.025).nearbyPeers.isEmpty)
    }

    @Test func `a gap of the microphone begins anew, and a pause keeps the decision`() {
        #expect(listener(delay: 0.04, playedDelay: 0.04, seconds: 5.5).nearbyPeers == [.init(2)])
        #expect(listener(delay: 0.04, playedDelay: 0.04, seconds: 5.5, gapAt: 250).nearbyPeers.isEmpty)
        var found = listener(delay: 0.04, playedDelay: 0.04)
        found.pause()
        #expect(found.nearbyPeers == [.init(2)])
        found.keep([.init(3)])
        #expect(found.nearbyPeers.isEmpty)
    }
}

@Suite(.optimized) struct VoiceTimelineTests {
    @Test(arguments: [0.995, 1, 1.004]) func `a voice that is played faster or slower is put back`(speed: Double) {
        var timeline = VoiceTimeline(sampleRate: 48_000)
        var result: [Float] = []
        func sample(_ frame: Double) -> Float { Float(sin(2 * .pi * 500 / 48_000 * frame)) }
        for block in 0..<400 {
            let first = Double(block) * 128
            result += timeline.add((0..<128).map { sample((first + Double($0)) * speed) }, at: first * speed)
        }
        #expect(abs(Double(result.count) - 399 * 128 * speed) <= 1)
        #expect(result.indices.allSatisfy { abs(result[$0] - sample(Double($0))) < 0.01 })
    }

    @Test func `a part that was left out is silence, and concealment adds nothing`() {
        var timeline = VoiceTimeline(sampleRate: 48_000)
        let block = [Float](repeating: 1, count: 128)
        let counts = [0, 128, 128, 5_128, 5_256, 100_000, 100_128].map { timeline.add(block, at: Double($0)).count }
        #expect(counts == [0, 128, 0, 5_000, 128, 0, 128])
    }
}
