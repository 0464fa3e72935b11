// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioFiles
import EarshotAudioStreams
import EarshotDuet
import Foundation
import Glibc

/// Songs from the network.
extension SongFile {
    /// The bytes of the longest name of a received song.
    private static let longestName = 160

    /// Returns true for an address from which a song can be received.
    package static func isAddress(_ text: String) -> Bool {
        ["http://", "https://"].contains { text.lowercased().hasPrefix($0) }
    }

    /// Receives a song into the folder of songs. A lost connection is taken up again. Waits for the network.
    /// - Parameters:
    ///   - duetFolder: the folder of duets; nil for the default.
    ///   - progress: is called several times a second, with the bytes that have arrived and those of the whole file, if they are known.
    ///     Returns false to give up.
    /// - Returns: the path of the song; nil if `progress` gave up. Without a path, nothing stays in the folder.
    package static func download(
        _ address: String, to duetFolder: String?, options: AudioStreamOptions = AudioStreamOptions(),
        progress: (Int64, Int64?) -> Bool
    ) throws(DuetProblem) -> String? {
        var configuration = LiveCall.Configuration()
        configuration.duetFolder = duetFolder
        let folder = configuration.songFolder
        if let code = PathText.makeFolder(folder, mode: 0o700) { throw .folder(path: folder, code: code) }
        let part = "\(folder)/.download-\(UUID().uuidString)"
        defer { unlink(part) }
        let name: String
        do throws(FileDownload.Failure) {
            let download = try FileDownload(address, to: part, limit: DuetSong.largestFile, options: options)
            repeat {
                guard progress(download.byteCount, download.totalByteCount) else { return nil }
            } while try !download.work(at: .now())
            name = cleanedName(download.suggestedName)
        } catch {
            throw .download(error)
        }
        return try keep(part, as: name, in: folder)
    }

    /// Returns the last part of an address as the name of a file.
    static func cleanedName(_ part: String) -> String {
        var name = RecordingFolder.cleaned(part)
        while name.utf8.count > longestName {
            let dot = name.lastIndex(of: ".").flatMap { name.distance(from: $0, to: name.endIndex) <= 6 ? $0 : nil }
            name.remove(at: name.index(before: dot.flatMap { $0 > name.startIndex ? $0 : nil } ?? name.endIndex))
        }
        return name == "-" ? "song" : name
    }

    /// Gives a received file a name that no other one has. An equal file is used in its place.
    private static func keep(_ part: String, as name: String, in folder: String) throws(DuetProblem) -> String {
        let hash = try hash(part, limit: DuetSong.largestFile).hash
        let dot = name.lastIndex(of: ".").flatMap { $0 > name.startIndex ? $0 : nil } ?? name.endIndex
        for number in 1...1_000 {
            let path = "\(folder)/" + (number == 1 ? name : "\(name[..<dot]) \(number)\(name[dot...])")
            // Never replaces a file.
            if link(part, path) == 0 { return path }
            guard errno == EEXIST else { throw .folder(path: folder, code: errno) }
            if (try? self.hash(path, limit: DuetSong.largestFile).hash) == hash { return path }
        }
        throw .folder(path: folder, code: EEXIST)
    }
}
