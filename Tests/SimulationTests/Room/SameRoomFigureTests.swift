// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import Foundation
import TestSupport
import TestTraits
import Testing

@testable import EarshotSimulation

/// The table of docs/figures/same-room.md, which `scripts/bench same-room` prints with EARSHOT_FIGURES.
@Suite(.optimized, .enabled(if: ProcessInfo.processInfo.environment["EARSHOT_FIGURES"] != nil))
struct SameRoomFigureTests {
    typealias Scene = SameRoomScene
    private static let seeds = UInt64(1_001)...1_200
    static let scenes =
        [true, false].flatMap { isSameRoom in
            [Scene.Listening.headphones, .loudspeakers].flatMap { listening in
                Scene.Sound.allCases.map { Scene(isSameRoom: isSameRoom, listening: listening, sound: $0) }
            }
        }
        + [true, false].map { Scene(isSameRoom: $0, listening: .unprocessed) }

    @Test func `found and false`() async throws {
        let sentences = try SameRoomVoices.sentences(RecordedSpeech.sentences)
        for scene in Self.scenes {
            let decisions = await withTaskGroup(of: Double?.self) { group in
                for seed in Self.seeds { group.addTask { scene.decision(seed: seed, sentences) } }
                return await group.reduce(into: [Double]()) { $0.append($1 ?? .infinity) }
            }
            let count = Double(decisions.count)
            func share(_ seconds: Double) -> String {
                String(format: "%.1f %%", 100 * Double(decisions.count { $0 <= seconds }) / count)
            }
            print(
                "same-room figure: | \(scene.isSameRoom ? "one room" : "two rooms") | \(scene.listening.rawValue) | "
                    + "\(scene.sound.rawValue) | \(share(5)) | \(share(8)) |")
        }
    }
}
