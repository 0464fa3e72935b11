// SPDX-License-Identifier: Apache-2.0

import EarshotDuet

/// The files of an attempt at a song, for a report.
package struct DuetTakeReport: Hashable, Sendable {
    /// A voice in the folder.
    package struct Voice: Hashable, Sendable {
        /// The singer's name.
        package var name: String
        package var isLocal: Bool
        package var gapCount: Int
        package var gapSeconds: Double
    }

    /// The song's title, or the name of the beat.
    package var song: String
    package var attempt: UInt32
    package var folder: String
    /// The path of the mix; nil without one.
    package var mixPath: String?
    package var voices: [Voice] = []
    /// The names of the singers whose voices are not in the folder.
    package var missing: [String] = []
}

extension LiveCall {
    /// The reports of all attempts, in order. Waits for the disk.
    package var duetTakeReports: [DuetTakeReport] {
        duet.withLock { $0.attempts }.map { _, number, files in
            var report = DuetTakeReport(
                song: files.songTitle, attempt: number, folder: files.folder, mixPath: files.mixPath)
            let manifest = try? RecordingManifest(inFolder: files.folder)
            report.voices = (manifest?.tracks ?? []).filter { $0.kind == .voice }.map { track in
                let gapFrames = track.gaps.reduce(0.0) { $0 + Double(max(0, $1.frameCount)) }
                return .init(
                    name: track.name, isLocal: track.isLocal, gapCount: track.gaps.count,
                    gapSeconds: gapFrames / Double(manifest?.sampleRate ?? 1))
            }
            report.missing = files.singers.subtracting(files.stems).sorted().compactMap { name(of: $0)?.text }
            return report
        }
    }
}
