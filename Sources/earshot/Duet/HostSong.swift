// SPDX-License-Identifier: Apache-2.0

import EarshotDuet
import EarshotLiveCall
import Foundation

/// A song that a host has named: a file, or an address from which it is received.
struct HostSong {
    var song: DuetSong
    /// The absolute path of the file.
    var path: String

    /// Reads a song. One at an address is received first, with a line that shows the progress.
    /// - Parameter folder: the folder of duets; nil for the default.
    init(_ name: String, beat: Beat? = nil, to folder: String?) throws {
        do {
            if SongFile.isAddress(name) {
                path = try Self.download(name, to: folder)
            } else {
                path = URL(fileURLWithPath: name).path
                try SendCommand.checkFile(name)
            }
            song = try SongFile.describe(path, beat: beat)
        } catch let error as DuetProblem {
            throw Failure(DuetSentences.problem(error) { _ in "" }, status: Failure.data)
        }
    }

    private static func download(_ address: String, to folder: String?) throws -> String {
        Interrupt.watch()
        Terminal.say("Receiving the song from \(URL(string: address)?.host ?? "the network").")
        var progress = ProgressLine()
        defer { progress.clear() }
        let path = try SongFile.download(address, to: folder.map { URL(fileURLWithPath: $0).path }) { count, total in
            progress.show { _ in DuetSentences.downloaded(count, of: total) }
            return !Interrupt.isRequested
        }
        guard let path else { throw ExitCodes.interrupted }
        return path
    }
}
