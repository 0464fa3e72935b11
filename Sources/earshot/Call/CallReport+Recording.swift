// SPDX-License-Identifier: Apache-2.0

import EarshotLiveCall

extension CallReport.Recording {
    init(_ result: CallRecordingResult) {
        self.init(
            folder: result.folder, seconds: result.seconds, mix: result.mixPath, files: result.paths,
            gapSeconds: result.gapSeconds)
    }
}
