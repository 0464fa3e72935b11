// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioFiles

/// The description of the recording, in `recording.json` and in the files' tags.
extension CallRecordingWriter {
    /// The minimum seconds between two descriptions.
    private static let descriptionInterval = 1.0

    /// Writes the description if more than lengths changed, at most once a second.
    func writeManifest(at now: HostTime) {
        manifest.recordedBy = state.name
        manifest.tracks = allVoices.map { describe($0) }
        manifest.tracks.append(
            RecordingManifest.Track(
                file: mix.track.fileName, parts: mix.track.paths.count, name: "mix", names: [], isLocal: false,
                kind: .mix, frameCount: mix.track.frameCount, gaps: mix.track.gaps, volumes: []))
        if let written = writtenManifest {
            guard manifest.withoutLengths != written.manifest,
                now.seconds(since: written.time) >= Self.descriptionInterval
            else { return }
        }
        do throws(AudioFileError) {
            try manifest.write(inFolder: folder)
        } catch { note(.file(error)) }
        writtenManifest = (manifest.withoutLengths, now)
    }

    private func describe(_ voice: RecordedVoice) -> RecordingManifest.Track {
        RecordingManifest.Track(
            file: voice.track.fileName, parts: voice.track.paths.count, name: voice.name, names: voice.names,
            key: voice.key?.hex, isLocal: voice.isLocal, kind: voice.kind, frameCount: voice.track.frameCount,
            gaps: voice.track.gaps, volumes: voice.kind == .voice ? voice.volumes : [],
            offset: voice.shift.map {
                .init(
                    seconds: Double($0) / Double(manifest.sampleRate),
                    contains: voice.isLocal ? .deviceLatency : .recordingDepth)
            }, takes: voice === localVoice && !takeFiles.isEmpty ? takeFiles : nil)
    }

    /// Writes room, name and date to the tags of the closed files. This copies each file.
    func tagFiles() {
        var tags = AudioFileTags()
        (tags.album, tags.date) = (manifest.room, String(manifest.started.prefix(10)))
        for voice in allVoices {
            (tags.artist, tags.title) = (voice.name, "\(manifest.room): \(voice.name)")
            // Formats without tags are skipped.
            for path in voice.track.paths { try? tags.write(to: path) }
        }
        (tags.artist, tags.title) = (nil, "\(manifest.room): mix")
        for path in mix.track.paths { try? tags.write(to: path) }
    }
}
