// SPDX-License-Identifier: Apache-2.0

import EarshotAudioFiles
import Foundation
import Glibc

/// The folder of a recording, and the names of the files in it.
enum RecordingFolder {
    /// Creates a folder with mode 0700, and missing folders above it. A recording never writes into a folder that has files: it then
    /// gets a folder of its own in it, named by the date and the room.
    /// - Parameter folder: the user's folder; nil for `Earshot` in the user's music folder.
    /// - Returns: the folder's absolute path.
    static func create(_ folder: String?, room: String, date: Date = Date()) throws(CallRecordingError) -> String {
        let wanted = folder.map {
            $0.hasPrefix("/") ? $0 : "\(FileManager.default.currentDirectoryPath)/\($0)"
        }
        if let wanted, isEmpty(wanted) {
            try make(wanted)
            return wanted
        }
        let parent = wanted ?? "\(musicFolder())/Earshot"
        try make(parent)
        let name = "\(dateText(date)) \(cleaned(room))"
        for number in 1...999 {
            let path = "\(parent)/\(name)\(number == 1 ? "" : " \(number)")"
            if mkdir(PathText.bytes(path), 0o700) == 0 { return path }
            if errno != EEXIST { throw .folder(path: path, code: errno) }
        }
        throw .folder(path: "\(parent)/\(name)", code: EEXIST)
    }

    /// Returns true for a folder that is missing or has no files.
    private static func isEmpty(_ path: String) -> Bool {
        PathText.names(inFolder: path)?.isEmpty ?? (PathText.status(path) == nil)
    }

    private static func make(_ path: String) throws(CallRecordingError) {
        var parts = ""
        for part in path.split(separator: "/") {
            parts += "/\(part)"
            if mkdir(PathText.bytes(parts), 0o700) != 0, errno != EEXIST { throw .folder(path: path, code: errno) }
        }
        guard let status = PathText.status(path), status.st_mode & S_IFMT == S_IFDIR else {
            throw .folder(path: path, code: ENOTDIR)
        }
        guard access(PathText.bytes(path), W_OK | X_OK) == 0 else { throw .folder(path: path, code: errno) }
    }

    /// The music folder of xdg-user-dirs; without one, `Music` in the home folder.
    static func musicFolder(environment: [String: String] = ProcessInfo.processInfo.environment) -> String {
        let home = environment["HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? NSHomeDirectory()
        let configuration = environment["XDG_CONFIG_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? "\(home)/.config"
        let text = (try? String(contentsOfFile: "\(configuration)/user-dirs.dirs", encoding: .utf8)) ?? ""
        for line in text.split(separator: "\n") {
            guard line.hasPrefix("XDG_MUSIC_DIR=\""), line.hasSuffix("\"") else { continue }
            let value = line.dropFirst("XDG_MUSIC_DIR=\"".count).dropLast()
            let path = value.hasPrefix("$HOME/") ? "\(home)/\(value.dropFirst(6))" : String(value)
            if path.hasPrefix("/"), path != "\(home)/" { return path }
        }
        return "\(home)/Music"
    }

    private static func dateText(_ date: Date) -> String {
        let parts = Calendar(identifier: .gregorian).dateComponents([.year, .month, .day, .hour, .minute], from: date)
        return String(
            format: "%04d-%02d-%02d %02d.%02d", parts.year ?? 0, parts.month ?? 0, parts.day ?? 0, parts.hour ?? 0,
            parts.minute ?? 0)
    }

    /// Returns a name as part of a file name: without slashes and control characters, at most 100 bytes.
    private static func cleaned(_ name: String) -> String {
        // An accent would hide a slash in its character.
        let scalars = name.unicodeScalars.map { $0 == "/" || $0.properties.generalCategory == .control ? "-" : $0 }
        var text = ""
        for character in String(String.UnicodeScalarView(scalars)) {
            guard text.utf8.count + character.utf8.count <= 100 else { break }
            text.append(character)
        }
        let trimmed = text.trimmingCharacters(in: .whitespaces)
        return trimmed.isEmpty ? "-" : trimmed.hasPrefix(".") ? "-\(trimmed)" : trimmed
    }

    /// Returns a name for a person's file that no other file has, whatever the case of letters, and adds it to `taken`.
    static func fileName(for person: String, besides taken: inout Set<String>) -> String {
        let name = cleaned(person)
        var unique = name
        var number = 2
        while !taken.insert(unique.lowercased()).inserted {
            unique = "\(name) \(number)"
            number += 1
        }
        return unique
    }
}
