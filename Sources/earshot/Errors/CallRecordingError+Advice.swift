// SPDX-License-Identifier: Apache-2.0

import EarshotLiveCall

extension CallRecordingError {
    /// The sentences for the user: what happened, then what to do.
    var text: String { ErrorText.join(ErrorDocument(self).text, advice) }

    private var advice: String? {
        switch self {
        case .folder: "Restart with another folder: --record FOLDER"
        case .file(let error): Self.goingOn(error.advice)
        case .system: "To try again, press r."
        case .codec(let error): Self.goingOn(error.advice)
        case .tooManyParticipants: nil
        }
    }

    /// Returns the advice of another error, and that the call goes on.
    private static func goingOn(_ advice: String?) -> String {
        (advice.map { "\($0) " } ?? "") + "The call goes on."
    }
}
