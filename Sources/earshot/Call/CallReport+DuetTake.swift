// SPDX-License-Identifier: Apache-2.0

import EarshotLiveCall

extension CallReport.DuetTake {
    init(_ report: DuetTakeReport) {
        self.init(
            song: report.song, take: Int(report.attempt), folder: report.folder, mix: report.mixPath,
            voices: report.voices.map {
                .init(name: $0.name, isLocal: $0.isLocal, gaps: $0.gapCount, gapSeconds: $0.gapSeconds)
            }, missing: report.missing)
    }
}
