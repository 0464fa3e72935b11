// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import EarshotAudioFiles
import EarshotLiveCall
import Foundation

/// The option of a call's accompaniment.
struct AccompanimentOptions: ParsableArguments {
    @Option(
        parsing: .upToNextOption,
        help: ArgumentHelp(
            "Load audio files, playlists or folders to play in the call: a plays, l lets all hear them.",
            valueName: "file"),
        completion: .file())
    var accompany: [String] = []

    /// The command that loads the files; nil without files.
    var command: LiveCallCommand? {
        accompany.isEmpty ? nil : .setAccompaniment(files: accompany.map { URL(fileURLWithPath: $0).path })
    }

    /// Throws if a file is missing.
    func check() throws(Failure) {
        for file in accompany where PathText.status(file) == nil {
            throw Failure(
                "--accompany \(file): \(String(cString: strerror(errno))). Put the room before --accompany.",
                status: Failure.noInput)
        }
    }
}
