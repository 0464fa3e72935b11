// SPDX-License-Identifier: Apache-2.0

import EarshotDuet
import EarshotLiveCall
import Foundation

/// A song that a host has named: a file, or an address from which it is received.
struct HostSong {
    var song: DuetSong
    /// The absolute path of the file.
    var path: String
    /// The absolute path of the guide vocal; nil without one.
    var guidePath: String?

    /// Reads a song, and its guide vocal. A file at an address is received first, with a line that shows the progress.
    /// - Parameter folder: the folder of duets; nil for the default.
    init(_ name: String, beat: Beat? = nil, guide: String? = nil, to folder: String?) throws {
        do {
            path = try Self.find(name, as: "song", to: folder)
            song = try SongFile.describe(path, beat: beat)
            if let guide {
                let guidePath = try Self.find(guide, as: "guide vocal", to: folder)
                song.guide = try SongFile.describeGuide(guidePath, of: song)
                self.guidePath = guidePath
            }
        } catch let error as DuetProblem {
            throw Failure(DuetSentences.problem(error) { _ in "" }, status: Failure.data)
        }
    }

    /// Returns the absolute path of a file, or of one that was received.
    /// - Parameter kind: `song` or `guide vocal`.
    private static func find(_ name: String, as kind: String, to folder: String?) throws -> String {
        if SongFile.isAddress(name) { return try download(name, as: kind, to: folder) }
        try SendCommand.checkFile(name)
        return URL(fileURLWithPath: name).path
    }

    private static func download(_ address: String, as kind: String, to folder: String?) throws -> String {
        Interrupt.watch()
        Terminal.say("Receiving the \(kind) from \(URL(string: address)?.host ?? "the network").")
        var progress = ProgressLine()
        defer { progress.clear() }
        let path = try SongFile.download(address, to: folder.map { URL(fileURLWithPath: $0).path }) { count, total in
            progress.show { _ in DuetSentences.downloaded(kind, count, of: total) }
            return !Interrupt.isRequested
        }
        guard let path else { throw ExitCodes.interrupted }
        return path
    }
}
