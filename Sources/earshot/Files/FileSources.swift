import AudioFiles
import Foundation

/// The sound files that a command line names: files as they are, what folders hold, standard input.
struct FileSources {
    struct Source {
        /// To be opened.
        var path: String
        /// As it was named.
        var name: String
        /// From the folder that was named, if it was one.
        var folder: String?
        /// Behind the folder's name.
        var relative: String
        /// Keeps standard input.
        var spool: StandardStream.Spool?
    }

    private(set) var all: [Source] = []
    /// Endings by which a folder's sound files are known.
    static let endings: Set<String> = [
        "wav", "wave", "rf64", "bwf", "aif", "aiff", "aifc", "caf", "flac", "ogg", "oga", "opus", "mp3", "mp2", "m4a",
        "m4b", "mp4", "aac", "adts", "au", "snd", "w64",
    ]

    /// - Throws: ``Failure`` where a folder has none, or standard input is named twice.
    init(_ names: [String]) throws {
        for name in names {
            if name == StandardStream.name {
                guard !all.contains(where: { $0.spool != nil }) else {
                    throw Failure("standard input can be read once; name - once", status: Failure.usage)
                }
                let spool = try StandardStream.Spool()
                try spool.fill()
                all.append(Source(path: spool.path, name: name, relative: "stdin", spool: spool))
                continue
            }
            var isFolder: ObjCBool = false
            guard FileManager.default.fileExists(atPath: name, isDirectory: &isFolder), isFolder.boolValue else {
                all.append(Source(path: name, name: name, relative: (name as NSString).lastPathComponent))
                continue
            }
            let found = Self.contents(name)
            if found.isEmpty {
                throw Failure(
                    "\(name): has no sound file in it; name another folder, or the files", status: Failure.noInput)
            }
            all += found
        }
    }

    private static func contents(_ folder: String) -> [Source] {
        let walk = FileManager.default.enumerator(
            at: URL(fileURLWithPath: folder), includingPropertiesForKeys: [.isRegularFileKey],
            options: [.skipsHiddenFiles])
        let root = URL(fileURLWithPath: folder).standardizedFileURL.path
        var found: [Source] = []
        while let url = walk?.nextObject() as? URL {
            guard endings.contains(url.pathExtension.lowercased()),
                (try? url.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile) == true
            else { continue }
            let path = url.standardizedFileURL.path
            let relative = path.hasPrefix(root + "/") ? String(path.dropFirst(root.count + 1)) : url.lastPathComponent
            let name = (folder as NSString).appendingPathComponent(relative)
            found.append(Source(path: name, name: name, folder: folder, relative: relative))
        }
        return found.sorted { $0.relative.localizedStandardCompare($1.relative) == .orderedAscending }
    }
}
