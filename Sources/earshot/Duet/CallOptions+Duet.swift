// SPDX-License-Identifier: Apache-2.0

import EarshotLiveCall

extension CallOptions {
    /// Throws if the takes of a duet cannot be stored in their folder, which may be missing.
    func checkDuetFolder() throws(Failure) {
        guard isDuet else { return }
        do throws(CallRecordingError) { try RecordingFolder.check(duetFolder) } catch {
            guard case .folder(let path, let code) = error else { return }
            throw Failure(DuetSentences.folder(path, code), status: Failure.cannotCreate)
        }
    }
}
