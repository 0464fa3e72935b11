// SPDX-License-Identifier: Apache-2.0

import EarshotLiveCall

extension StemError: AdvisedError {
    var advice: String? {
        switch self {
        case .song(let error), .output(let error): error.advice
        case .recording(let error): error.advice
        case .noTakes: "Sing the song once."
        case .nothingUsable(let folder, let faults):
            faults.isEmpty ? "Sing the song once." : "Mix the recorded sound by hand: it is in \(folder)."
        case .otherSong(let folder): copySong(to: folder)
        case .noSong(let folder):
            "\(copySong(to: folder)) A beat has no file: use the recorded voice in '\(folder) recording'."
        case .ownFile: "Choose another file for the voice."
        }
    }

    private func copySong(to folder: String) -> String {
        "Copy the song's file to \(folder), named song with its extension."
    }
}

extension DuetFolderError: AdvisedError {
    var advice: String? {
        switch self {
        case .folder: "Use another folder."
        case .description(let error): error.advice
        case .song(let error), .stem(let error), .output(let error): error.advice
        case .noSong: "Name the folder of a duet."
        case .stemsOfAnotherSong: "Use another folder for another song."
        case .stemType, .stemRate, .stemLength, .stemChannels: "Ask the singer to send the voice again."
        case .ownFile: "Choose another file."
        case .tooManyStems: "Sing another take."
        }
    }
}
