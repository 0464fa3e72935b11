// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioContainers
import EarshotAudioFiles
import EarshotAudioQueues

/// A recorded file on the recording's timeline: what is missing is silence, and is listed. For one thread at a time.
final class RecordingTrack {
    /// The number of frames, including those that wait in memory.
    private(set) var frameCount = 0
    /// The silence in place of sound, in order.
    private(set) var gaps: [RecordingManifest.Gap] = []

    private let file: RecordedFile
    private let pending: AudioBuffer
    private var pendingCount = 0

    /// Creates the file.
    init(path: String, format: AudioFormat, _ settings: CallRecordingSettings) throws(AudioFileError) {
        file = try RecordedFile(
            AudioRecorderFile(path: path, type: settings.type, settings: settings.encoding), format: format,
            partFrames: settings.partDuration.map { max(1, Int($0 * format.sampleRate)) }, firstPart: 1)
        pending = AudioBuffer(channelCount: format.channelCount, frameCapacity: 16_384)
    }

    /// The paths of all parts.
    var paths: [String] { file.paths }

    /// The error that ended the file early; nil if there is none.
    var error: AudioFileError? { file.error }

    /// Writes frames of the timeline. Frames before the track's end are ignored, and missing frames are a gap.
    func write(_ samples: Channels, frameCount count: Int, at frame: Int, missing reason: RecordingManifest.Gap.Reason)
    {
        pad(to: frame, because: reason)
        let skipped = frameCount - frame
        if skipped < count { append(samples, offset: skipped, count - skipped) }
    }

    /// Writes silence up to a frame, and lists it as a gap.
    func pad(to frame: Int, because reason: RecordingManifest.Gap.Reason) {
        guard frame > frameCount else { return }
        if let last = gaps.last, last.reason == reason, last.frame + last.frameCount == frameCount {
            gaps[gaps.count - 1].frameCount = frame - last.frame
        } else {
            gaps.append(.init(frame: frameCount, frameCount: frame - frameCount, reason: reason))
        }
        padSilently(to: frame)
    }

    /// Writes silence up to a frame that is not a gap.
    func padSilently(to frame: Int) {
        while frameCount < frame {
            if pendingCount == pending.frameCapacity { flush() }
            let count = min(frame - frameCount, pending.frameCapacity - pendingCount)
            for c in 0..<pending.channels.count { clearSamples(pending.channels[c] + pendingCount, count) }
            pendingCount += count
            frameCount += count
        }
    }

    private func append(_ samples: Channels, offset: Int, _ count: Int) {
        var done = 0
        while done < count {
            if pendingCount == pending.frameCapacity { flush() }
            let piece = min(count - done, pending.frameCapacity - pendingCount)
            for c in 0..<pending.channels.count {
                copySamples(pending.channels[c] + pendingCount, samples[c] + offset + done, piece)
            }
            pendingCount += piece
            done += piece
        }
        frameCount += count
    }

    /// Passes the frames in memory to the file.
    func flush() {
        if pendingCount > 0 { file.write(pending.channels, frameCount: pendingCount, offset: 0) }
        pendingCount = 0
    }

    /// Writes the frames in memory and closes the file.
    func close() {
        flush()
        file.close()
    }
}
