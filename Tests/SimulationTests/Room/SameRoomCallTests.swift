// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotDiagnostics
import Foundation
import TestSupport
import TestTraits
import Testing

@testable import EarshotSimulation

/// Two people in one room, and in two, hold a whole call with headphones: Opus, a jitter buffer that adapts, and a wired network.
@Suite(.optimized) struct SameRoomCallTests {
    private static let rate = 48_000.0

    @Test(arguments: [true, false]) func `in a call, two in one room are found within 5 s of its start`(
        isSameRoom: Bool
    ) throws {
        let scene = SameRoomScene(isSameRoom: isSameRoom)
        let capture = scene.capture(seed: 2, try SameRoomVoices.sentences(RecordedSpeech.sentences))
        let microphones = [capture.microphone, capture.voice].map(Self.atDeviceRate)
        var configuration = CallSimulation.Configuration()
        configuration.codec = .opus
        configuration.network = .lan
        configuration.keepsFrom = 0
        configuration.keepsHistory = true
        configuration.peers = microphones.map { samples in
            var peer = CallSimulation.Configuration.Peer()
            peer.sound = SimulatedSound { frame, _ in frame < samples.count ? samples[frame] : 0 }
            return peer
        }
        var simulation = try CallSimulation(configuration)
        try simulation.run(until: 7)
        let voice = Self.stream(of: simulation.peers[0])
        var detector = SameRoomDetector()
        var decision: Double?
        for first in stride(from: 0, to: voice.count - 400, by: 400) {
            let range = first..<first + 400
            detector.add(
                microphone: Array(capture.microphone[range]), voice: Array(voice[range]),
                song: Array(capture.song[range]), reach: 0.012)
            if detector.isSameRoom, decision == nil { decision = Double(first + 400) / SameRoomDetector.sampleRate }
        }
        #expect(isSameRoom ? decision.map { $0 <= 5 } ?? false : decision == nil, "\(String(describing: decision))")
    }

    /// Returns the voice that a peer heard, on the timeline of its stream from frame 0, at the detector's rate.
    private static func stream(of peer: SimulatedPeer) -> [Float] {
        let heard = peer.heard[0]
        let count = peer.preferences.deviceBlock
        var timeline = VoiceTimeline(sampleRate: rate)
        var stream: [Float] = []
        var firstPosition: Double?
        for (cycle, entry) in peer.history.enumerated() where entry.statistics.isStarted {
            guard (cycle + 1) * count <= heard.count else { break }
            firstPosition = firstPosition ?? entry.statistics.position
            stream += timeline.add(Array(heard[cycle * count..<(cycle + 1) * count]), at: entry.statistics.position)
        }
        let silence = [Float](repeating: 0, count: max(0, Int(firstPosition ?? 0)))
        return TimedSignal(samples: silence + stream, sampleRate: rate, firstFrameTime: HostTime(nanoseconds: 0))
            .resampled(to: SameRoomDetector.sampleRate)
    }

    private static func atDeviceRate(_ samples: [Float]) -> [Float] {
        TimedSignal(
            samples: samples, sampleRate: SameRoomDetector.sampleRate, firstFrameTime: HostTime(nanoseconds: 0)
        ).resampled(to: rate)
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
