// SPDX-License-Identifier: Apache-2.0

import EarshotAudioFiles
import EarshotLiveCall
import Foundation

extension CallRecordingError {
    /// The sentences for the user: what happened, then what to do.
    var text: String {
        switch self {
        case .folder(let path, let code):
            let reason = String(cString: strerror(code))
            return ErrorText.join("Cannot record to \(path): \(reason)", "Restart with another folder: --record FOLDER")
        case .file(let error):
            return ErrorText.join("Cannot go on recording \(ErrorText.text(error))", "The call goes on.")
        case .system(let code):
            return ErrorText.join("Cannot record: \(String(cString: strerror(code)))", "To try again, press r.")
        case .codec(let error): return ErrorText.join("Cannot record: \(ErrorText.text(error))", "The call goes on.")
        case .tooManyParticipants(let limit):
            return "The recording has \(limit) participants, the most it can have. Later ones are not recorded."
        }
    }
}
