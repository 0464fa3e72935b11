// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioFiles

/// A beat in place of a song's file, with one channel. For one thread at a time; it never waits and never throws.
package final class BeatReader: SoundFileReader {
    private static let sampleRate = 48_000.0

    package let path = "beat"
    package let processingFormat = AudioFormat(sampleRate: sampleRate, channelCount: 1)
    package let frameCount: Int
    package private(set) var framePosition = 0
    private let beat: Beat

    /// - Parameter duration: in seconds.
    package init(_ beat: Beat, duration: Double) {
        self.beat = beat
        frameCount = Int((duration * Self.sampleRate).rounded())
    }

    package func seek(to frame: Int) { framePosition = min(max(0, frame), frameCount) }

    package func read(into channels: Channels, frameCount: Int, offset: Int) -> Int {
        let count = max(0, min(frameCount, self.frameCount - framePosition))
        beat.render(into: channels[0] + offset, from: Int64(framePosition), count, sampleRate: Self.sampleRate)
        framePosition += count
        return count
    }
}
