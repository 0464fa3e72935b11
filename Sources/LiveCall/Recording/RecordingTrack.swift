// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioContainers
import EarshotAudioFiles
import EarshotAudioQueues

/// A recorded file. Replaces missing frames by silence and lists the gaps. For one thread at a time.
///
/// After an error nothing is written or counted.
final class RecordingTrack {
    /// The maximum number of gaps; later ones are merged into the last.
    static let maximumGapCount = 10_000

    /// The number of frames, including those that wait in memory.
    private(set) var frameCount = 0
    /// The gaps, in order.
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

    /// The name of the file, or of its first part.
    var fileName: String { paths.first.map { PathText.fileName($0) } ?? "" }

    /// The error that ended the file early; nil if there is none.
    var error: AudioFileError? { file.error }

    /// Writes frames at a frame of the timeline. Ignores those before the track's end.
    /// - Parameters:
    ///   - offset: the first frame of `samples` to write.
    ///   - reason: the reason of the gap, if frames are missing before `frame`.
    func write(
        _ samples: Channels, frameCount count: Int, offset: Int = 0, at frame: Int,
        missing reason: RecordingManifest.Gap.Reason
    ) {
        writeGap(to: frame, because: reason)
        let skipped = frameCount - frame
        if skipped < count { append(samples, count - skipped, offset: offset + skipped) }
    }

    /// Writes silence up to a frame, and lists it as a gap.
    func writeGap(to frame: Int, because reason: RecordingManifest.Gap.Reason) {
        guard error == nil, frame > frameCount else { return }
        let continues = gaps.last.map { $0.reason == reason && $0.frame + $0.frameCount == frameCount } ?? false
        if continues || gaps.count == Self.maximumGapCount {
            gaps[gaps.count - 1].frameCount = frame - gaps[gaps.count - 1].frame
        } else {
            gaps.append(.init(frame: frameCount, frameCount: frame - frameCount, reason: reason))
        }
        writeSilence(to: frame)
    }

    /// Writes silence up to a frame without listing a gap.
    func writeSilence(to frame: Int) {
        append(nil, max(0, frame - frameCount), offset: 0)
    }

    /// - Parameter samples: nil for silence.
    private func append(_ samples: Channels?, _ count: Int, offset: Int) {
        guard error == nil else { return }
        var appendedCount = 0
        while appendedCount < count {
            if pendingCount == pending.frameCapacity { flush() }
            let piece = min(count - appendedCount, pending.frameCapacity - pendingCount)
            for c in 0..<pending.channels.count {
                if let samples {
                    copySamples(pending.channels[c] + pendingCount, samples[c] + offset + appendedCount, piece)
                } else {
                    clearSamples(pending.channels[c] + pendingCount, piece)
                }
            }
            pendingCount += piece
            appendedCount += piece
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
