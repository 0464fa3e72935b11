// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioFiles
import EarshotCall
import EarshotDuet

/// The takes of songs that are played during the recording: maps beside the track of the local voice.
extension CallRecordingWriter {
    /// Begins a take. The previous one ends.
    /// - Parameter log: the record of what the song's player plays; this recording is its only reader.
    func beginTake(_ log: SongLog) {
        endTake()
        let number = takeFiles.count + 1
        let track = localVoice.track.fileName
        let stem = track.lastIndex(of: ".").map { String(track[..<$0]) } ?? track
        let name = number == 1 ? "\(stem).take" : "\(stem) \(number).take"
        let description = TakeDescription(
            file: track, singer: state.name, number: number, sampleRate: Double(manifest.sampleRate),
            songSampleRate: log.songSampleRate)
        do throws(AudioFileError) {
            take = try TakeRecorder(
                path: "\(folder)/\(name)", description, log, localVoice.microphone == nil ? .shared : .separate)
            takeFiles.append(name)
        } catch { note(.file(error)) }
    }

    /// Completes the take, if there is one.
    func endTake() {
        take?.finish()
        noteTakeError()
        take = nil
    }

    /// Writes what became known of the take.
    func writeTake() {
        take?.write()
        noteTakeError()
    }

    private func noteTakeError() {
        if let error = take?.error { note(.file(error)) }
    }

    /// Notes captured frames of the local voice, as far as the track has them.
    /// - Parameters:
    ///   - frame: the track's frame of the first of them.
    ///   - writtenCount: the frames of the track before they were written.
    func noteTake(_ cycle: CallCycle, at frame: Int, after writtenCount: Int) {
        guard let take else { return }
        let frames = max(0, frame, writtenCount)..<max(0, frame, writtenCount, localVoice.track.frameCount)
        let skippedCount = frames.lowerBound - frame
        guard localVoice.track.frameCount > writtenCount, frames.upperBound <= frame + cycle.frameCount else { return }
        take.add(
            frames, sampleTime: cycle.sampleTime + Int64(skippedCount),
            hostTime: cycle.hostTime.advanced(bySeconds: Double(skippedCount) / Double(manifest.sampleRate)),
            latency: cycle.inputLatency + state.processingLatency)
    }
}
