// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Foundation
import TestSupport
import TestTraits
import Testing

@testable import EarshotCall
@testable import EarshotSimulation

/// Two people in one room of image sources are found, and two in different rooms are not. Each seed has another room, distance
/// (1 to 4 m), reverberation (0.2 to 0.8 s), noise, delay and sound.
@Suite(.optimized) struct SameRoomTests {
    typealias Scene = SameRoomScene
    private static let seeds = UInt64(1)...3

    @Test(arguments: Scene.Sound.allCases, [Scene.Listening.headphones, .loudspeakers])
    func `two in one room are found within 5 s`(sound: Scene.Sound, listening: Scene.Listening) throws {
        let sentences = try SameRoomVoices.sentences(RecordedSpeech.sentences)
        let scene = Scene(isSameRoom: true, listening: listening, sound: sound)
        let decisions = Self.seeds.map { scene.decision(seed: $0, sentences) }
        #expect(decisions.allSatisfy { ($0 ?? .infinity) <= 5 }, "\(decisions)")
    }

    @Test(arguments: Scene.Sound.allCases, Scene.Listening.allCases)
    func `two in different rooms are not found, although both hear each other`(
        sound: Scene.Sound, listening: Scene.Listening
    ) throws {
        let sentences = try SameRoomVoices.sentences(RecordedSpeech.sentences)
        let scene = Scene(isSameRoom: false, listening: listening, sound: sound)
        for seed in Self.seeds { #expect(scene.decision(seed: seed, sentences) == nil, "seed \(seed)") }
    }

    @Test func `the decision is withdrawn when the two part`() throws {
        let sentences = try SameRoomVoices.sentences(RecordedSpeech.sentences)
        let together = Scene(isSameRoom: true).capture(seed: 3, sentences)
        let apart = Scene(isSameRoom: false, seconds: 25).capture(seed: 4, sentences)
        var detector = SameRoomDetector()
        func add(_ sound: Scene.Capture) {
            detector.add(microphone: sound.microphone[...], voice: sound.voice[...], reach: 0.012)
        }
        add(together)
        #expect(detector.isSameRoom)
        detector.restart()
        #expect(detector.isSameRoom)
        add(apart)
        #expect(!detector.isSameRoom)
    }

    @Test func `a muted microphone and numbers that no converter produces change nothing`() throws {
        let sound = Scene(isSameRoom: true).capture(seed: 3, try SameRoomVoices.sentences(RecordedSpeech.sentences))
        let silent = [Float](repeating: 0, count: sound.voice.count)
        var detector = SameRoomDetector()
        detector.add(microphone: silent[...], voice: sound.voice[...], reach: 0.012)
        #expect(detector.evidence == nil)
        for values in [[Float.nan, 0, Float.infinity, 0], [Float(1e30), 0, -1e30, 0]] {
            let broken = sound.voice.indices.map { values[$0 % 4] }
            detector.add(microphone: broken[...], voice: broken[...], reach: 0.012)
            #expect(detector.evidence?.share.isFinite != false)
        }
        detector.restart()
        detector.add(microphone: sound.microphone[...], voice: sound.voice[...], reach: 0.012)
        #expect(detector.evidence?.share.isFinite == true)
    }
}
