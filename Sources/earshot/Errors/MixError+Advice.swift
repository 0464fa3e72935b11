// SPDX-License-Identifier: Apache-2.0

import EarshotLiveCall

extension MixError: AdvisedError {
    var advice: String? {
        switch self {
        case .noFolder, .noDescription: "Name the folder of a recorded call, such as one in ~/Music/Earshot."
        case .unreadable(let error), .output(let error): error.advice
        case .badDescription: "Restore the file, or mix the voices' files in another program."
        case .laterVersion: "Update Earshot: earshot --version"
        case .noVoices: "Record a call: earshot host --record"
        case .nothingReadable: "Restore the files: earshot info FOLDER shows which can be read."
        case .unknownVoice(_, let near, let all):
            ErrorText.suggestion(near, otherwise: "Voices: \(all.joined(separator: ", ")).")
        case .ownFile: "Choose another file or folder for the output."
        case .empty: "Use a smaller --nudge."
        case .cancelled: nil
        }
    }
}
