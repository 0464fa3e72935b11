// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioFiles

/// Reads any frames of a take, and keeps the last ones, since neighbouring pieces need the same frames. Frames before and after
/// the file are silent.
final class TakeWindow {
    private static let capacity = 8_192
    private let reader: any SoundFileReader
    private let buffer: AudioBuffer
    /// The frames of the file in the buffer.
    private var frames: Range<Int64> = 0..<0

    init(_ reader: any SoundFileReader) {
        self.reader = reader
        buffer = AudioBuffer(channelCount: reader.processingFormat.channelCount, frameCapacity: Self.capacity)
    }

    /// Reads frames from a frame of the file on.
    func read(_ frame: Int64, into channels: Channels, frameCount: Int, offset: Int) throws(AudioFileError) {
        let length = Int64(reader.frameCount)
        var done = 0
        while done < frameCount {
            let position = frame + Int64(done)
            var count = frameCount - done
            if position < 0 || position >= length {
                if position < 0 { count = Int(min(Int64(count), -position)) }
                clear(channels, offset + done, count)
            } else {
                if !frames.contains(position) { try load(position) }
                // A damaged file ends before its length.
                let available = frames.contains(position) ? Int(frames.upperBound - position) : 0
                count = min(count, available > 0 ? available : count)
                for c in 0..<buffer.channels.count where available > 0 {
                    let at = Int(position - frames.lowerBound)
                    copySamples(channels[c] + offset + done, buffer.channels[c] + at, count)
                }
                if available == 0 { clear(channels, offset + done, count) }
            }
            done += count
        }
    }

    private func clear(_ channels: Channels, _ offset: Int, _ count: Int) {
        for c in 0..<buffer.channels.count { clearSamples(channels[c] + offset, count) }
    }

    private func load(_ frame: Int64) throws(AudioFileError) {
        // Some frames before, for the next piece's filter. They stay if they are here, since a seek takes time in some formats.
        let start = max(0, frame - 256)
        let kept = frames.contains(start) ? Int(frames.upperBound - start) : 0
        for c in 0..<buffer.channels.count where kept > 0 {
            moveSamples(buffer.channels[c], buffer.channels[c] + Int(start - frames.lowerBound), kept)
        }
        frames = 0..<0
        let next = Int(start) + kept
        if reader.framePosition != next { try reader.seek(to: next) }
        let count = try reader.read(into: buffer.channels, frameCount: Self.capacity - kept, offset: kept)
        frames = start..<start + Int64(kept + count)
    }
}
