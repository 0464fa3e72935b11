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
            songSampleRate: log.songSampleRate, songHash: log.songHash,
            uncertainty: state.calibratedDelay?.uncertainty,
            latencySource: state.calibratedDelay == nil ? "reported" : "measured")
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

    /// Appends the entries that became known to the take's map.
    func writeTake() {
        take?.write()
        noteTakeError()
    }

    private func noteTakeError() {
        if let error = take?.error { note(.file(error)) }
    }

    /// Notes the captured frames of the local voice that the track has.
    /// - Parameters:
    ///   - frame: the track's frame of the first captured frame.
    ///   - writtenCount: the frames of the track before the captured frames were written.
    ///   - clockFrame: the microphone's counter at the cycle's host time.
    func noteTake(_ cycle: CallCycle, at frame: Int, after writtenCount: Int, clockFrame: Double) {
        let (start, end) = (max(0, frame, writtenCount), localVoice.track.frameCount)
        guard let take, start < end, end <= frame + cycle.frameCount else { return }
        let skippedCount = start - frame
        let block = DeviceBlock(
            sampleTime: cycle.sampleTime + Int64(skippedCount), frameCount: end - start,
            hostTime: cycle.hostTime.advanced(bySeconds: Double(skippedCount) / Double(manifest.sampleRate)),
            latency: cycle.inputLatency + state.processingLatency + (state.calibratedDelay?.correction ?? 0),
            clockFrame: clockFrame + Double(skippedCount), lateness: cycle.lateness)
        take.add(CapturedBlock(block, takeFrame: Int64(start)))
    }
}
