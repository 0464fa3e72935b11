// SPDX-License-Identifier: Apache-2.0

import EarshotAudioFiles
import Foundation
import Testing

@Suite struct OutputPathTests {
    private func names(_ folder: Folder) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted()
    }

    @Test func `checking a path leaves an existing file unchanged and creates no new one`() throws {
        let folder = try Folder()
        let path = folder.path("a.wav")
        try OutputPath.check(path)
        #expect(try names(folder).isEmpty)
        try Data("keep me".utf8).write(to: URL(filePath: path))
        try OutputPath.check(path)
        #expect(try Data(contentsOf: URL(filePath: path)) == Data("keep me".utf8))
        #expect(throws: AudioFileError.missingFolder(path: folder.path("none/a.wav"))) {
            try OutputPath.check(folder.path("none/a.wav"))
        }
        #expect(throws: AudioFileError.directory(path: folder.url.path)) { try OutputPath.check(folder.url.path) }
    }

    @Test func `a dangling link is preserved, also through another link`() throws {
        let folder = try Folder()
        let disk = folder.path("disk")
        try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: false)
        for (link, target) in [("a.wav", disk + "/take.wav"), ("b.wav", "disk/take.wav"), ("c.wav", "b.wav")] {
            try FileManager.default.createSymbolicLink(atPath: folder.path(link), withDestinationPath: target)
            try OutputPath.check(folder.path(link))
            #expect(try FileManager.default.destinationOfSymbolicLink(atPath: folder.path(link)) == target)
            #expect(try FileManager.default.contentsOfDirectory(atPath: disk).isEmpty)
        }
        // Later writes go to the link's target.
        Glibc.close(try OutputPath.open(folder.path("c.wav")))
        #expect(try FileManager.default.contentsOfDirectory(atPath: disk) == ["take.wav"])
        try OutputPath.check(folder.path("c.wav"))
        // A failed recording removes the file, but not the links.
        OutputPath.remove(folder.path("c.wav"))
        OutputPath.remove(folder.path("c.wav"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: disk).isEmpty)
        #expect(try names(folder) == ["a.wav", "b.wav", "c.wav", "disk"])
    }

    @Test func `a link into a missing folder and a link to itself are reported`() throws {
        let folder = try Folder()
        for (link, target) in [("a.wav", "none/take.wav"), ("b.wav", "b.wav")] {
            let path = folder.path(link)
            try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: target)
            let expected = link == "a.wav" ? AudioFileError.missingFolder(path: path) : .system(path: path, code: ELOOP)
            #expect(throws: expected) { try OutputPath.check(path) }
            #expect(try FileManager.default.destinationOfSymbolicLink(atPath: path) == target)
        }
    }
}
