// SPDX-License-Identifier: Apache-2.0

import EarshotAudioBase
import EarshotAudioEngine
import EarshotAudioFiles
import Foundation
import TestSupport
import Testing

@testable import earshot

/// Damaged, repetitive and far too large graph files. None may end the program.
@Suite struct GraphFileDamageTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Examples/graphs")

    private static let pieces = [
        "[", "]", "\"", "'", "=", ".", "{", "}", "\n", "#", "nan", "-inf", "-1e400", "1e308", "\\u", "é",
        "[[connections]]\n",
        "[nodes.voice]\n", "from", "\"main mixer\"", "\"output\"", "type = \"player\"\n", "input = 1\n", "-", "0",
        "1979-05-27",
    ]

    private func graphs() throws -> [[UInt8]] {
        try ["around", "duet", "voice"].map {
            Array(try Data(contentsOf: Self.folder.appendingPathComponent("\($0).toml")))
        } + [Array(GraphFileTests.sound.utf8)]
    }

    @Test func `a damaged graph file is either valid or rejected with a line and column`() throws {
        var random = SeededRandom(seed: 1)
        let graphs = try graphs()
        var read = 0
        let damaged = (0..<4_000).map { random.damaged(graphs[$0 % graphs.count], pieces: Self.pieces) }
        let starts = graphs.flatMap { graph in stride(from: 0, to: graph.count, by: 3).map { Array(graph.prefix($0)) } }
        for bytes in damaged + starts {
            do throws(GraphFileError) {
                _ = try GraphFile(bytes, path: "a.toml")
                read += 1
            } catch {
                let lines = bytes.count { $0 == 0x0A } + 1
                let isValid = (1...lines).contains(error.place.line) && error.place.column >= 1
                #expect(isValid && !error.problem.isEmpty, "\(error)")
                #expect(error.description.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control })
                #expect(error.description.unicodeScalars.count < 1_100)
            }
        }
        #expect(read > 100)
    }

    /// The named files are opened, too; they are real.
    @Test func `a graph read from a damaged file can be built, or fails with an expected error`() throws {
        let folder = try Scratch()
        let format = AudioFormat(sampleRate: 48_000, channelCount: 1)
        let writer = try AudioFileWriter(path: folder("a.wav"), format: format)
        let buffer = AudioBuffer(channelCount: 1, frameCapacity: 480)
        try writer.write(buffer.channels, frameCount: 480)
        try writer.close()
        var random = SeededRandom(seed: 2)
        let graphs = try graphs()
        var built = 0
        for round in 0..<1_000 {
            let bytes = random.damaged(graphs[round % graphs.count], pieces: Self.pieces)
            guard let file = try? GraphFile(bytes, path: "a.toml") else { continue }
            do {
                try GraphBuilder(file, inputs: [folder("a.wav"), folder("a.wav")], rate: nil).open(
                    maximumFrameCount: 512)
                built += 1
            } catch {
                #expect(error is GraphFileError || error is AudioFileError || error is Failure, "\(error)")
            }
        }
        #expect(built > 10)
    }

    @Test(arguments: [
        "[", "]", "{", "\"", "'", "=", "a.", "a={", "[a]\n", "[[a]]\n", "a=[", "9", "\n", "\0", "\\", "\u{FEFF}",
    ])
    func `a megabyte of one repeated token is rejected`(piece: String) {
        let text = String(repeating: piece, count: (1 << 20) / piece.utf8.count)
        for prefix in ["", "a = ", "[nodes.a]\n", "[output]\nrate = "] {
            #expect(throws: GraphFileError.self) { try GraphFile(Array((prefix + text).utf8), path: "a.toml") }
        }
    }

    @Test func `control characters in names from a graph file do not reach the terminal`() throws {
        let text = "\"a\\u001b[2J\\nb\" = 1"
        let error = try #require(throws: GraphFileError.self) { try GraphFile(Array(text.utf8), path: "a.toml") }
        #expect(error.description.contains("a?[2J?b"), "\(error)")
    }
}
