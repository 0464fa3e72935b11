// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioContainers
import EarshotAudioFiles
import Foundation
import TestSupport

/// The songs of persons 0 and 1 of a ``ChangedCall``: files with a tone, which outlast a call.
final class SongFiles {
    private static let seconds = 10.0
    private let folder: String
    /// The path of each person's song.
    private(set) var paths: [String] = []

    init() throws {
        folder = NSTemporaryDirectory() + "earshot-changes-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let count = Int(Self.seconds * ChangedCall.rate)
        let buffer = AudioBuffer(channelCount: 1, frameCapacity: count)
        for (person, frequency) in ChangedCall.frequencies.dropFirst(3).enumerated() {
            for i in 0..<count {
                buffer.channels[0][i] = sine(
                    i, frequency: Double(frequency), rate: ChangedCall.rate, amplitude: ChangedCall.songAmplitude)
            }
            let path = "\(folder)/\(person).wav"
            let file = try SoundFiles.create(path, format: AudioFormat(sampleRate: ChangedCall.rate, channelCount: 1))
            try file.write(buffer.channels, frameCount: count)
            try file.close()
            paths.append(path)
        }
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }
}
