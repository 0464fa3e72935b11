// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioFiles
import Foundation

/// A sum of three sines as a function of the seconds of a song.
func voice(at seconds: Double) -> Double {
    0.3 * sin(2 * .pi * 220 * seconds) + 0.2 * sin(2 * .pi * 557.3 * seconds + 1)
        + 0.1 * sin(2 * .pi * 997 * seconds + 2)
}

/// A sound file in memory.
final class SyntheticSound: SoundFileReader {
    let path = "memory"
    let processingFormat: AudioFormat
    let frameCount: Int
    var framePosition = 0
    let sample: (Int) -> Float

    init(sampleRate: Double, frameCount: Int, sample: @escaping (Int) -> Float) {
        processingFormat = AudioFormat(sampleRate: sampleRate, channelCount: 1)
        (self.frameCount, self.sample) = (frameCount, sample)
    }

    func read(into channels: Channels, frameCount: Int, offset: Int) -> Int {
        let count = max(0, min(frameCount, self.frameCount - framePosition))
        for i in 0..<count { channels[0][offset + i] = sample(framePosition + i) }
        framePosition += count
        return count
    }

    func seek(to frame: Int) { framePosition = min(frame, frameCount) }
}

/// Writes a file of 32-bit floats with one channel.
func writeSound(_ path: String, sampleRate: Double, frameCount: Int, sample: (Int) -> Float) throws {
    let file = try AudioFileWriter(
        path: path, format: AudioFormat(sampleRate: sampleRate, channelCount: 1), sampleFormat: .float32)
    let buffer = AudioBuffer(channelCount: 1, frameCapacity: frameCount)
    for i in 0..<frameCount { buffer.channels[0][i] = sample(i) }
    try file.write(buffer.channels, frameCount: frameCount)
    try file.close()
}

/// A folder that is removed with this value.
final class TemporaryFolder {
    let path = FileManager.default.temporaryDirectory.appending(path: "duet-\(UUID().uuidString)").path

    init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }
    deinit { try? FileManager.default.removeItem(atPath: path) }
}
