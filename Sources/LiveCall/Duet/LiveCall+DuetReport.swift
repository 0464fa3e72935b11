// SPDX-License-Identifier: Apache-2.0

import EarshotDuet

/// The files of a take, for a report.
package struct DuetTakeReport: Codable, Hashable, Sendable {
    /// A voice in the folder.
    package struct Voice: Codable, Hashable, Sendable {
        /// The singer's name.
        package var name: String
        package var isLocal: Bool
        /// The number of gaps, and their seconds.
        package var gaps: Int
        package var gapSeconds: Double
    }

    /// The song's title, or the name of the beat.
    package var song: String
    /// The number of the take.
    package var take: UInt32
    package var folder: String
    /// The path of the mix; nil without one.
    package var mix: String?
    package var voices: [Voice] = []
    /// The names of the singers whose voices are not in the folder.
    package var missing: [String] = []
}

extension LiveCall {
    /// The reports of all attempts, in order. Waits for the disk.
    package var duetTakeReports: [DuetTakeReport] {
        duet.withLock { $0.attempts }.map { number, files in
            var report = DuetTakeReport(
                song: files.songTitle, take: files.identity?.number ?? number, folder: files.folder, mix: files.mixPath)
            let manifest = try? RecordingManifest(inFolder: files.folder)
            report.voices = (manifest?.tracks ?? []).filter { $0.kind == .voice }.map { track in
                let gapFrames = track.gaps.reduce(0.0) { $0 + Double(max(0, $1.frameCount)) }
                return .init(
                    name: track.name, isLocal: track.isLocal, gaps: track.gaps.count,
                    gapSeconds: gapFrames / Double(manifest?.sampleRate ?? 1))
            }
            report.missing = files.singers.subtracting(files.stems).sorted().compactMap { name(of: $0)?.text }
            return report
        }
    }
}
