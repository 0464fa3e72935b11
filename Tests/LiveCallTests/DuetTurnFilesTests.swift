// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioContainers
import EarshotAudioFiles
import EarshotMediaTransport
import Foundation
import TestSupport
import Testing

@testable import EarshotDuet
@testable import EarshotLiveCall

/// The files of singers who take turns.
@Suite struct DuetTurnFilesTests {
    private let scratch: MixRig
    private let keys = (1...2).compactMap { KeyFingerprint(bytes: [UInt8](repeating: $0, count: 32)) }

    init() throws { scratch = try MixRig() }

    /// Creates the folder of a take with a song of a quarter of a second.
    private func take(_ number: UInt32, length: Int = 12_000) throws -> DuetFolder {
        let path = scratch.path("song \(number).wav")
        try MixRig.write([MixRig.tone(440, length)], to: path)
        let folder = scratch.path("take \(number)")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        return try DuetFolder(
            take: folder, name: "Room", recordedBy: "Anna", song: .file(path), program: "test",
            attempt: .init(number: number))
    }

    /// Writes a stem of one level, and returns its path.
    private func stem(_ level: Float) throws -> String {
        let path = scratch.path("\(UUID().uuidString).flac")
        let writer = try SoundFiles.create(
            path, type: .flac, format: AudioFormat(sampleRate: 48_000, channelCount: 1))
        let block = AudioBuffer(channelCount: 1, frameCapacity: 12_000)
        for n in 0..<12_000 { block.channels[0][n] = level }
        try writer.write(block.channels, frameCount: 12_000)
        try writer.close()
        return path
    }

    private func level(_ name: String, in take: DuetFolder) throws -> Float {
        try MixRig.read("\(take.path)/\(name)")[0][6_000]
    }

    @Test func `the voices of an earlier turn are copied, except that of who sings now`() throws {
        var first = try take(1)
        let gap = StemGap(frame: 100, frameCount: 200, reason: .device)
        try first.addStem(path: stem(0.25), singer: "Anna", key: keys[0], isLocal: true, gaps: [gap])
        try first.addStem(path: stem(0.5), singer: "Ben", key: keys[1], isLocal: false)
        var second = try take(2)
        try second.addStem(path: stem(0.125), singer: "Ben", key: keys[1], isLocal: true)
        for _ in 0..<2 { try second.keepStems(ofTake: first.path) }
        let manifest = try RecordingManifest(inFolder: second.path)
        #expect(manifest.tracks.map(\.file) == ["song.wav", "Ben.flac", "Anna.flac"])
        #expect(manifest.tracks.map(\.isLocal) == [false, true, false] && manifest.tracks[2].key == keys[0].hex)
        #expect(try level("Anna.flac", in: second) == 0.25 && level("Ben.flac", in: second) == 0.125)
        #expect(fileMode("\(second.path)/Anna.flac") == 0o600)
        // The first take is as it was.
        #expect(try level("Ben.flac", in: first) == 0.5 && first.stems.count == 2)
        #expect(try MixSource(folder: second.path).voices.map(\.name) == ["song 2", "Ben", "Anna"])
        let names = try FileManager.default.contentsOfDirectory(atPath: second.path)
        #expect(!names.contains { $0.hasPrefix(".") }, "\(names)")
    }

    @Test func `a take of another song, or without its files, gives no voice`() throws {
        var first = try take(1, length: 9_000)
        var second = try take(2)
        try second.addStem(path: stem(0.125), singer: "Ben", key: keys[1], isLocal: true)
        #expect(throws: DuetFolderError.self) { try first.keepStems(ofTake: second.path) }
        #expect(first.stems.isEmpty)
        var third = try take(3)
        try FileManager.default.removeItem(atPath: "\(second.path)/Ben.flac")
        #expect(throws: DuetFolderError.self) { try third.keepStems(ofTake: second.path) }
        #expect(throws: DuetFolderError.self) { try third.keepStems(ofTake: scratch.path("none")) }
        #expect(third.stems.isEmpty)
    }
}
