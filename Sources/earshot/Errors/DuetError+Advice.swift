// SPDX-License-Identifier: Apache-2.0

import EarshotLiveCall

extension StemError: AdvisedError {
    var advice: String? {
        switch self {
        case .song(let error), .output(let error): error.advice
        case .recording(let error): error.advice
        case .emptySong: "Choose another song."
        case .noTakes: "Sing the song once: only what is sung to a song lines up with it."
        case .nothingUsable(let folder, let faults):
            faults.isEmpty ? "Sing the song once." : "The recorded sound is still in \(folder)."
        case .ownFile: "Choose another file for the voice."
        case .cancelled: nil
        }
    }
}

extension DuetFolderError: AdvisedError {
    var advice: String? {
        switch self {
        case .folder: "Use another folder."
        case .description(let error): error.advice
        case .song(let error), .stem(let error), .output(let error): error.advice
        case .noSong: "Name the folder of a duet."
        case .emptySong: "Choose another song."
        case .stemsOfAnotherSong: "Use another folder for another song."
        case .stemType, .stemRate, .stemLength, .stemChannels: "Ask the singer to send the voice again."
        case .ownFile: "Choose another file."
        case .tooManyStems: nil
        }
    }
}
