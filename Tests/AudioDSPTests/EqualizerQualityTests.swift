// SPDX-License-Identifier: Apache-2.0

import EarshotAudioDSP
import Foundation
import Testing
import UnitMeasures

/// Renders the input of Tests/Quality/equalizer.py, which judges it.
@Suite struct EqualizerQualityTests {
    private static var folder: String? { ProcessInfo.processInfo.environment["EARSHOT_EQUALIZER_FOLDER"] }

    private struct Case: Codable {
        var name: String
        var group: String
        var rate: Double
        var frames: Int
        var preset: String
        var changes: [String: Float]
        /// All parameters as they were written back.
        var values: [String: Float]?
    }

    @Test(.enabled(if: folder != nil)) func `impulse responses are exported for comparison with scipy`() throws {
        let folder = URL(filePath: try #require(Self.folder))
        var cases = try JSONDecoder().decode([Case].self, from: Data(contentsOf: folder.appending(path: "asked.json")))
        for i in cases.indices {
            let unit = UnitType.equalizer.makeUnit(sampleRate: cases[i].rate, channelCount: 1)
            let values = EqualizerMeasure.values(cases[i].preset, cases[i].changes)
            unit.set(values)
            var impulse = [Float](repeating: 0, count: cases[i].frames)
            impulse[0] = 1
            let heard = UnitDrive.render(unit, [impulse], blocks: [64])[0]
            try heard.withUnsafeBytes { try Data($0).write(to: folder.appending(path: "\(cases[i].name).f32")) }
            cases[i].values = Dictionary(
                uniqueKeysWithValues: zip(unit.description.parameters.map(\.identifier), values))
        }
        try JSONEncoder().encode(cases).write(to: folder.appending(path: "heard.json"))
    }
}
