// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioFiles
import EarshotAudioStreams
import EarshotDuet
import EarshotNearby
import Foundation
import Glibc

/// Songs from the network.
extension SongFile {
    /// Returns true for an address, also one of a scheme that ``download(_:to:options:progress:)`` refuses.
    package static func isAddress(_ text: String) -> Bool { text.contains("://") }

    /// Receives a song into the folder of songs. An equal file that is there is used in its place. Waits for the network.
    /// - Parameters:
    ///   - duetFolder: the folder of duets; nil for the default.
    ///   - progress: is called several times a second, with the bytes that have arrived and those of the whole file, if they are known.
    ///     Returns false to give up.
    /// - Returns: the path of the song; nil if `progress` gave up. Without a path, nothing stays in the folder.
    package static func download(
        _ address: String, to duetFolder: String?, options: AudioStreamOptions = AudioStreamOptions(),
        progress: (Int, Int?) -> Bool
    ) throws(DuetProblem) -> String? {
        var configuration = LiveCall.Configuration()
        configuration.duetFolder = duetFolder
        let folder = configuration.songFolder
        if let code = PathText.makeFolder(folder, mode: 0o700) { throw .folder(path: folder, code: code) }
        let part = ".download-\(UUID().uuidString)"
        let partPath = "\(folder)/\(part)"
        defer { unlink(PathText.bytes(partPath)) }
        let (name, shownAddress): (String, String)
        do throws(FileDownload.Failure) {
            let download = try FileDownload(address, to: partPath, limit: Int(DuetSong.largestFile), options: options)
            repeat {
                guard progress(download.byteCount, download.totalByteCount) else { return nil }
            } while try !download.work(at: .now())
            (name, shownAddress) = (FileName.safe(download.suggestedName), download.shownAddress)
        } catch {
            throw .download(error)
        }
        do throws(AudioFileError) { _ = try length(partPath) } catch { throw .notSound(address: shownAddress) }
        let (hash, byteCount) = try hash(partPath, limit: DuetSong.largestFile)
        if let path = find(hash: hash, byteCount: byteCount, among: files(in: folder)) { return path }
        let directory = open(PathText.bytes(folder), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else { throw .folder(path: folder, code: errno) }
        defer { close(directory) }
        do throws(FileName.RenamingError) {
            return "\(folder)/\(try FileName.rename(part, toUnused: name, in: directory))"
        } catch {
            switch error {
            case .creating(let code), .renaming(let code): throw .folder(path: folder, code: code)
            }
        }
    }

    /// Returns the paths of the visible files in a folder of songs.
    static func files(in folder: String) -> [String] {
        (PathText.names(inFolder: folder) ?? []).filter { !$0.hasPrefix(".") }.map { "\(folder)/\($0)" }
    }

    /// Returns the first file of a size and a hash; nil if there is none.
    static func find(hash wanted: String, byteCount: Int64, among paths: [String]) -> String? {
        paths.first { path in
            guard let status = PathText.status(path), Int64(status.st_size) == byteCount else { return false }
            return (try? hash(path, limit: DuetSong.largestFile).hash) == wanted
        }
    }
}
