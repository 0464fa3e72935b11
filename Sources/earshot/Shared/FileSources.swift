// SPDX-License-Identifier: Apache-2.0

import EarshotAudioContainers
import EarshotAudioFiles
import Foundation

/// The sound files that a command line names: files, the contents of folders, standard input.
struct FileSources {
    struct Source {
        /// The path to open.
        var path: String
        /// The name to show: the argument on the command line; for a file in a named folder, its path.
        var name: String
        /// The folder on the command line in which the file was found; nil if the file itself was named.
        var folder: String?
        /// The file's path within ``folder``; without a folder, the file's name.
        var relative: String
        /// The temporary copy of standard input, which is deleted when released; nil for other files.
        var spool: StandardStream.Spool?
    }

    private(set) var all: [Source] = []
    /// The extensions by which sound files in a folder are found.
    static let endings = SoundFiles.fileExtensions

    /// - Throws: ``Failure`` if a folder has no sound files or is unreadable, or if standard input is named twice.
    init(_ names: [String]) throws {
        for name in names {
            if name == StandardStream.name {
                guard !all.contains(where: { $0.spool != nil }) else {
                    throw Failure("Standard input can be read once. Name - once.", status: Failure.usage)
                }
                let spool = try StandardStream.Spool()
                try spool.fill()
                all.append(Source(path: spool.path, name: name, relative: "stdin", spool: spool))
                continue
            }
            guard let status = PathText.status(name), status.st_mode & S_IFMT == S_IFDIR else {
                all.append(Source(path: name, name: name, relative: (name as NSString).lastPathComponent))
                continue
            }
            let found = try Self.contents(name)
            if found.isEmpty {
                throw Failure(
                    "\(name) contains no audio files. Name another folder, or the files.", status: Failure.noInput)
            }
            all += found
        }
    }

    /// Returns the sound files in a folder and its subfolders, including links to files. Warns of what is skipped although the
    /// user may have meant it.
    static func contents(_ folder: String) throws -> [Source] {
        var found: [Source] = []
        var foldersToVisit = [""]
        while let subfolder = foldersToVisit.popLast() {
            if Interrupt.isRequested { throw ExitCodes.interrupted }
            let path = subfolder.isEmpty ? folder : (folder as NSString).appendingPathComponent(subfolder)
            guard let names = PathText.names(inFolder: path) else {
                let line = "\(path): the folder cannot be read. Check its mode: ls -ld"
                guard !subfolder.isEmpty else { throw Failure(line, status: Failure.noInput) }
                Terminal.warn(line)
                continue
            }
            for name in names where !name.hasPrefix(".") {
                let relative = subfolder.isEmpty ? name : "\(subfolder)/\(name)"
                switch kind((path as NSString).appendingPathComponent(name)) {
                case .folder: foldersToVisit.append(relative)
                case .file:
                    let path = (folder as NSString).appendingPathComponent(relative)
                    found.append(Source(path: path, name: path, folder: folder, relative: relative))
                case .neither(let reason):
                    if let reason { Terminal.warn("\(path)/\(name): skipped: \(reason)") }
                }
            }
        }
        return found.sorted { $0.relative.localizedStandardCompare($1.relative) == .orderedAscending }
    }

    private enum Kind {
        case folder, file
        /// An entry of a folder to skip, with the reason for a warning; nil if the user cannot have meant this entry.
        case neither(String?)
    }

    private static func kind(_ path: String) -> Kind {
        let isNamedAsSound = endings.contains((path as NSString).pathExtension.lowercased())
        guard var status = PathText.status(path, followsLinks: false) else {
            return .neither(isNamedAsSound ? String(cString: strerror(errno)) : nil)
        }
        let isLink = status.st_mode & S_IFMT == S_IFLNK
        if isLink {
            guard let target = PathText.status(path) else {
                return .neither(isNamedAsSound ? "a link to a missing file" : nil)
            }
            status = target
        }
        switch status.st_mode & S_IFMT {
        // A link to a folder is not followed, since it may lead back to a parent folder or out of the named folder.
        case S_IFDIR: return isLink ? .neither("a link to a folder; name it to include its files") : .folder
        case S_IFREG: return isNamedAsSound ? .file : .neither(nil)
        default: return .neither(nil)
        }
    }
}
