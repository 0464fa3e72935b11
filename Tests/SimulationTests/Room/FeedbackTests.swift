// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Foundation
import TestSupport
import TestTraits
import Testing

@testable import EarshotSimulation

/// Two laptops of a call in one room: the loudspeaker of one plays to the microphone of the other.
@Suite(.optimized) struct FeedbackTests {
    private static let seeds = UInt64(1)...4

    @Test(arguments: FeedbackLoop.Sound.allCases)
    func `feedback is damped before it howls`(sound: FeedbackLoop.Sound) throws {
        let sentences = try SameRoomVoices.sentences(RecordedSpeech.sentences)
        for gain in [3.0, 6.0] {
            var loop = FeedbackLoop(gain: gain, delay: 0.04, sound: sound)
            var (damped, plain) = (0.0, 0.0)
            for seed in Self.seeds {
                loop.isDamped = true
                let result = loop.run(seed: seed, sentences)
                damped += FeedbackLoop.howlingSeconds(result.played)
                #expect(result.dampedCount > 0)
                loop.isDamped = false
                plain += FeedbackLoop.howlingSeconds(loop.run(seed: seed, sentences).played)
            }
            print("feedback: \(sound.rawValue), \(gain) dB: howls for \(damped) s, without damping \(plain) s")
            #expect(plain > 10 && damped < 0.1 * plain)
        }
    }

    @Test(arguments: [FeedbackLoop.Sound.silence, .talk])
    func `nothing is changed in a loop that cannot feed back`(sound: FeedbackLoop.Sound) throws {
        let sentences = try SameRoomVoices.sentences(RecordedSpeech.sentences)
        for seed in Self.seeds {
            var loop = FeedbackLoop(gain: -10, delay: 0.04, sound: sound)
            let damped = loop.run(seed: seed, sentences)
            #expect(damped.dampedCount == 0)
            loop.isDamped = false
            #expect(damped.played == loop.run(seed: seed, sentences).played)
        }
    }
}

/// The table of docs/figures/feedback.md, which `scripts/bench feedback` prints with EARSHOT_FIGURES.
@Suite(.optimized, .enabled(if: ProcessInfo.processInfo.environment["EARSHOT_FIGURES"] != nil))
struct FeedbackFigureTests {
    private static let seeds = UInt64(1_001)...1_020
    static let loops = FeedbackLoop.Sound.allCases.flatMap { sound in
        [-10.0, 1, 3, 6, 10].flatMap { gain in
            [0.04, 0.1].map { FeedbackLoop(gain: gain, delay: $0, sound: sound) }
        }
    }

    private struct Row: Sendable {
        var (damped, plain) = (0.0, 0.0)
        var count = 0
    }

    @Test func `howling and damped`() async throws {
        let sentences = try SameRoomVoices.sentences(RecordedSpeech.sentences)
        for loop in Self.loops {
            let rows = await withTaskGroup(of: Row.self) { group in
                for seed in Self.seeds {
                    group.addTask {
                        var plain = loop
                        plain.isDamped = false
                        let damped = loop.run(seed: seed, sentences)
                        return Row(
                            damped: FeedbackLoop.howlingSeconds(damped.played),
                            plain: FeedbackLoop.howlingSeconds(plain.run(seed: seed, sentences).played),
                            count: damped.dampedCount)
                    }
                }
                return await group.reduce(into: [Row]()) { $0.append($1) }
            }
            let count = Double(rows.count)
            let sorted = rows.map(\.damped).sorted()
            print(
                "feedback figure: | \(loop.sound.rawValue) | \(Int(loop.gain)) | \(Int(loop.delay * 1_000)) | "
                    + String(
                        format: "%.1f | %.2f | %.1f | %.1f |", rows.reduce(0) { $0 + $1.plain } / count,
                        rows.reduce(0) { $0 + $1.damped } / count, sorted[sorted.count * 9 / 10],
                        Double(rows.reduce(0) { $0 + $1.count }) / count))
        }
    }
}
