// SPDX-License-Identifier: Apache-2.0

import EarshotAudioFiles
import Foundation

/// The mix in the folder of a recorded call or of a duet's take.
extension RecordingFolder {
    /// Returns the names of the mix's files: the mix that the recording or the take made, or else those of `earshot mix`. Empty if there
    /// is none, and for a folder that is no recording. Waits for the disk.
    package static func mix(in folder: String) -> [String] {
        guard let manifest = try? RecordingManifest(inFolder: folder) else { return [] }
        let names = (PathText.names(inFolder: folder) ?? []).sorted()
        let recorded = manifest.tracks.filter { $0.kind == .mix }.flatMap { TrackReader.fileNames(of: $0) }
        for mixes in [recorded, names.filter { $0.hasPrefix("mix.") }, names.filter { $0.hasPrefix("mix-") }] {
            let present = mixes.filter(names.contains)
            if !present.isEmpty { return present }
        }
        return []
    }

    /// Returns the path of a take whose recording a folder is, from the folder's path; nil for another folder.
    package static func takeFolder(ofRecording path: String) -> String? {
        guard let space = path.range(of: " recording", options: .backwards),
            path[space.upperBound...].allSatisfy({ $0 == " " || $0.isASCII && $0.isNumber })
        else { return nil }
        return String(path[..<space.lowerBound])
    }
}
