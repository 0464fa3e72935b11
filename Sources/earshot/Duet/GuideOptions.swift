// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// The option of a song's guide vocal.
struct GuideOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Sound file, or its http address, of a voice that each singer hears at a level of one's own. It is as long as the song, within 1 s.",
            valueName: "vocal"),
        completion: .file())
    var guide: String?

    /// Throws if there is a guide vocal, but not one song that it belongs to.
    func check(songCount: Int) throws {
        guard guide != nil, songCount != 1 else { return }
        throw ValidationError(songCount == 0 ? "--guide needs a song." : "--guide is for one song. Name one.")
    }
}
