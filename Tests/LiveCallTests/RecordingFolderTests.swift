// SPDX-License-Identifier: Apache-2.0

import EarshotAudioFiles
import Foundation
import Testing

@testable import EarshotLiveCall

/// The folder of a recording, and the names of the files in it.
@Suite struct RecordingFolderTests {
    /// A temporary folder for one test.
    private final class Scratch {
        let path = NSTemporaryDirectory() + "earshot-folders-\(UUID().uuidString)"

        init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }
        deinit { try? FileManager.default.removeItem(atPath: path) }

        func callAsFunction(_ name: String) -> String { "\(path)/\(name)" }

        func write(_ text: String, to name: String) throws {
            try text.write(toFile: callAsFunction(name), atomically: false, encoding: .utf8)
        }

        func makeFolder(_ name: String, mode: mode_t = 0o700) throws -> String {
            let path = callAsFunction(name)
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            try #require(chmod(path, mode) == 0)
            return path
        }
    }

    private static let date = Date(timeIntervalSince1970: 1_795_874_700)

    /// The beginning of a folder's name.
    private static let dateText: String = {
        let parts = Calendar(identifier: .gregorian).dateComponents([.year, .month, .day, .hour, .minute], from: date)
        return String(
            format: "%04d-%02d-%02d %02d.%02d", parts.year ?? 0, parts.month ?? 0, parts.day ?? 0, parts.hour ?? 0,
            parts.minute ?? 0)
    }()

    private static func create(_ wanted: String, room: String = "Blue Room") throws -> String {
        try RecordingFolder.create(wanted, room: room, date: date)
    }

    private static func mode(_ path: String) -> mode_t? { PathText.status(path).map { $0.st_mode & 0o7777 } }

    // MARK: The folder

    @Test func `a missing folder is created for its owner only, with those above it, and used itself`() throws {
        let scratch = try Scratch()
        let wanted = scratch("takes/today")
        #expect(try Self.create(wanted) == wanted)
        #expect(Self.mode(wanted) == 0o700 && Self.mode(scratch("takes")) == 0o700)
        #expect(PathText.names(inFolder: wanted) == ["recording.json"])
    }

    @Test func `an empty folder is used itself by one recording, and keeps its mode`() throws {
        let scratch = try Scratch()
        let wanted = try scratch.makeFolder("takes", mode: 0o750)
        #expect(try Self.create(wanted) == wanted)
        #expect(Self.mode(wanted) == 0o750 && PathText.names(inFolder: wanted) == ["recording.json"])
        #expect(try Self.create(wanted) == "\(wanted)/\(Self.dateText) Blue Room")
    }

    @Test func `in a folder with files each recording gets its own, named by the date and the room`() throws {
        let scratch = try Scratch()
        let wanted = try scratch.makeFolder("takes")
        try scratch.write("mine", to: "takes/Ann.wav")
        let names = try (1...3).map { _ in try Self.create(wanted) }
        let name = "\(wanted)/\(Self.dateText) Blue Room"
        #expect(names == [name, "\(name) 2", "\(name) 3"])
        for name in names { #expect(Self.mode(name) == 0o700 && PathText.names(inFolder: name) == ["recording.json"]) }
        #expect(try Self.create(wanted, room: "a/b\u{7}") == "\(wanted)/\(Self.dateText) a-b-")
        #expect(try String(contentsOfFile: scratch("takes/Ann.wav"), encoding: .utf8) == "mine")
    }

    @Test func `a file in place of the folder or above it is an error, and stays`() throws {
        let scratch = try Scratch()
        try scratch.write("mine", to: "file")
        for path in [scratch("file"), scratch("file/takes")] {
            #expect(throws: CallRecordingError.folder(path: path, code: ENOTDIR)) { try Self.create(path) }
        }
        #expect(try String(contentsOfFile: scratch("file"), encoding: .utf8) == "mine")
    }

    @Test func `a folder in which nothing may be created is an error`() throws {
        let scratch = try Scratch()
        let locked = try scratch.makeFolder("locked", mode: 0o555)
        defer { chmod(locked, 0o700) }
        let new = locked + "/takes"
        try Self.withoutPrivilege {
            for path in [locked, new] {
                #expect(throws: CallRecordingError.folder(path: path, code: EACCES)) { try Self.create(path) }
            }
        }
        chmod(locked, 0o700)
        #expect(PathText.names(inFolder: locked) == [])
    }

    @Test func `a folder is checked without creating anything`() throws {
        let scratch = try Scratch()
        let wanted = try scratch.makeFolder("takes")
        try scratch.write("mine", to: "file")
        for path in [wanted, scratch("new"), scratch("new/deep/er")] { try RecordingFolder.check(path) }
        #expect(PathText.names(inFolder: scratch.path)?.sorted() == ["file", "takes"])
        #expect(PathText.names(inFolder: wanted) == [])
        let faulty = [
            (scratch("file"), ENOTDIR), (scratch("file/takes"), ENOTDIR), ("/proc/takes", ENOENT),
            ("/proc/takes/deep/er", ENOENT), (scratch(String(repeating: "x", count: 300)), ENAMETOOLONG),
        ]
        for (path, code) in faulty {
            #expect(throws: CallRecordingError.folder(path: path, code: code)) { try RecordingFolder.check(path) }
        }
    }

    @Test func `the check finds a folder without permission, also above a new one`() throws {
        let scratch = try Scratch()
        let locked = try scratch.makeFolder("locked", mode: 0o555)
        defer { chmod(locked, 0o700) }
        try Self.withoutPrivilege {
            for path in [locked, locked + "/takes", locked + "/takes/today"] {
                #expect(throws: CallRecordingError.folder(path: path, code: EACCES)) {
                    try RecordingFolder.check(path)
                }
            }
        }
    }

    /// Runs `body` on this thread as a user who may write less than root.
    private static func withoutPrivilege(_ body: () throws -> Void) throws {
        if geteuid() != 0 { return try body() }
        // Sets the user ID of this thread only; Glibc's module does not declare setfsuid.
        let symbol = try #require(dlsym(nil, "setfsuid"))
        let setFileUser = unsafeBitCast(symbol, to: (@convention(c) (uid_t) -> CInt).self)
        _ = setFileUser(65_534)
        defer { _ = setFileUser(0) }
        try body()
    }

    // MARK: The user's music

    @Test func `the music folder is the one of the desktop, or Music`() throws {
        let scratch = try Scratch()
        let (home, folder) = (try scratch.makeFolder("home"), try scratch.makeFolder("configuration"))
        func found(_ line: String?) throws -> String {
            let text = line.map { "# comment\nXDG_DESKTOP_DIR=\"$HOME/Desk\"\n\($0)\nXDG_VIDEOS_DIR=\"/v\"\n" } ?? ""
            try text.write(toFile: "\(folder)/user-dirs.dirs", atomically: false, encoding: .utf8)
            return RecordingFolder.musicFolder(configuration: folder, home: home)
        }
        #expect(RecordingFolder.musicFolder(configuration: folder, home: home) == "\(home)/Music")
        #expect(try found("XDG_MUSIC_DIR=\"$HOME/Musik und Ton\"") == "\(home)/Musik und Ton")
        #expect(try found("XDG_MUSIC_DIR=\"/srv/music\"") == "/srv/music")
        // XDG: the home folder means no music folder.
        #expect(try found("XDG_MUSIC_DIR=\"$HOME/\"") == "\(home)/Music")
        #expect(try found("#XDG_MUSIC_DIR=\"$HOME/x\"") == "\(home)/Music")
        #expect(try found("XDG_MUSIC_DIR=\"relative\"") == "\(home)/Music")
        #expect(try found(nil) == "\(home)/Music")
    }

    // MARK: The names of files

    @Test(arguments: [
        ("Ann", "Ann"), ("AC/DC", "AC-DC"), ("/etc/passwd", "-etc-passwd"), ("..", "-.."),
        ("../x", "-..-x"), (".hidden", "-.hidden"), ("a\u{0}b\nc\u{7}", "a-b-c-"), ("a\r\nb", "a--b"), ("", "-"),
        ("Zoë 🎻", "Zoë 🎻"),
    ])
    func `a participant's file has the participant's name without slashes, control characters and a leading dot`(
        person: String, name: String
    ) {
        var taken: Set<String> = ["mix"]
        #expect(RecordingFolder.fileName(for: person, besides: &taken) == name)
        #expect(taken == ["mix", name.lowercased()])
    }

    /// A slash with a combining mark is one character, but still separates path components.
    @Test func `a slash with an accent does not divide a path`() throws {
        var taken: Set<String> = []
        let name = RecordingFolder.fileName(for: "a/\u{301}b", besides: &taken)
        #expect(!name.utf8.contains(UInt8(ascii: "/")), "\(name)")
        let scratch = try Scratch()
        let wanted = try scratch.makeFolder("takes")
        try scratch.write("mine", to: "takes/Ann.wav")
        let folder = try Self.create(wanted, room: "a/\u{301}b")
        #expect(PathText.names(inFolder: folder) == ["recording.json"])
    }

    @Test func `no two files have the same name, whatever the case of letters`() {
        var taken: Set<String> = ["mix", "recording"]
        let names = ["Ann", "ann", "ANN", "mix", "Mix", "Ann 2", "Recording", "Ann"].map {
            RecordingFolder.fileName(for: $0, besides: &taken)
        }
        #expect(names == ["Ann", "ann 2", "ANN 3", "mix 2", "Mix 3", "Ann 2 2", "Recording 2", "Ann 4"])
    }
}
