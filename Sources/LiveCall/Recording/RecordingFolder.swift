// SPDX-License-Identifier: Apache-2.0

import EarshotAudioFiles
import EarshotNearby
import Foundation
import Glibc

/// The folder of a recording, and the names of the files in it.
package enum RecordingFolder {
    /// Creates the folder with mode 0700, and missing folders above it. In a folder with files, creates a subfolder named by date
    /// and room. The folder has an empty `recording.json`, so that no other recording uses it.
    /// - Parameter folder: the user's folder; nil for `Earshot` in the user's music folder.
    /// - Returns: the folder's absolute path.
    static func create(_ folder: String?, room: String, date: Date = Date()) throws(CallRecordingError) -> String {
        let parent = path(of: folder)
        if folder != nil, isEmpty(parent) {
            try make(parent)
            if try claim(parent) { return parent }
        }
        try make(parent)
        let path = try "\(parent)/\(makeUnique(in: parent, "\(dateText(date)) \(cleaned(room))"))"
        guard try claim(path) else { throw .folder(path: path, code: EEXIST) }
        return path
    }

    /// Creates a folder named by date and a name, with mode 0700, and missing folders above it. It has no `recording.json`. Returns its
    /// absolute path.
    /// - Parameter folder: the folder above; nil for the default folder.
    static func createUnclaimed(in folder: String?, named name: String, date: Date = Date())
        throws(CallRecordingError) -> String
    {
        let parent = path(of: folder)
        try make(parent)
        return try "\(parent)/\(makeUnique(in: parent, "\(dateText(date)) \(cleaned(name))"))"
    }

    /// Creates a folder with mode 0700. Returns its name, which has a number if the folder exists.
    static func makeUnique(in parent: String, _ name: String) throws(CallRecordingError) -> String {
        for number in 1...999 {
            let unique = number == 1 ? name : "\(name) \(number)"
            if mkdir(PathText.bytes("\(parent)/\(unique)"), 0o700) == 0 { return unique }
            guard errno == EEXIST else { throw .folder(path: "\(parent)/\(unique)", code: errno) }
        }
        throw .folder(path: "\(parent)/\(name)", code: EEXIST)
    }

    /// Returns the absolute path of the user's folder; of the default folder for nil.
    static func path(of folder: String?) -> String {
        guard let folder else { return "\(musicFolder())/Earshot" }
        return folder.hasPrefix("/") ? folder : "\(FileManager.default.currentDirectoryPath)/\(folder)"
    }

    /// Returns true for a folder that is missing or has no files.
    private static func isEmpty(_ path: String) -> Bool {
        PathText.names(inFolder: path)?.isEmpty ?? (PathText.status(path) == nil)
    }

    private static func make(_ path: String) throws(CallRecordingError) {
        if let code = PathText.makeFolder(path, mode: 0o700) { throw .folder(path: path, code: code) }
    }

    /// Creates the recording's description. Returns false if another recording has the folder.
    private static func claim(_ path: String) throws(CallRecordingError) -> Bool {
        let file = PathText.bytes("\(path)/\(RecordingManifest.fileName)")
        let descriptor = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        if descriptor >= 0 {
            close(descriptor)
            return true
        }
        guard errno == EEXIST else { throw .folder(path: path, code: errno) }
        return false
    }

    /// Returns the music folder of xdg-user-dirs; without one, `Music` in the home folder.
    static func musicFolder(
        configuration: String = UserFolder.configuration, home: String = UserFolder.home
    ) -> String {
        let text = (try? String(contentsOfFile: "\(configuration)/user-dirs.dirs", encoding: .utf8)) ?? ""
        for line in text.split(separator: "\n") {
            guard line.hasPrefix("XDG_MUSIC_DIR=\""), line.hasSuffix("\"") else { continue }
            let value = line.dropFirst("XDG_MUSIC_DIR=\"".count).dropLast()
            let path = value.hasPrefix("$HOME/") ? "\(home)/\(value.dropFirst(6))" : String(value)
            // The home folder means that there is no music folder.
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

    /// Returns a name as part of a file name: without slashes, control characters and a leading dot. Names of rooms and participants
    /// are short enough.
    static func cleaned(_ name: String) -> String {
        // By scalars: a slash with a combining mark is one character, but still separates path components.
        let scalars = name.unicodeScalars.map { $0 == "/" || $0.properties.generalCategory == .control ? "-" : $0 }
        let text = String(String.UnicodeScalarView(scalars))
        return text.isEmpty || text.hasPrefix(".") ? "-\(text)" : text
    }

    /// Returns a name for a participant's file that no other file has, whatever the case of letters, and adds it to `taken`.
    static func fileName(for participant: String, besides taken: inout Set<String>) -> String {
        let name = cleaned(participant)
        var unique = name
        var number = 2
        while !taken.insert(unique.lowercased()).inserted {
            unique = "\(name) \(number)"
            number += 1
        }
        return unique
    }
}
