// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import TestTraits
import Testing

@testable import EarshotTOMLReader

/// Damaged documents, always the same ones.
@Suite(.optimized) struct TOMLDamageTests {
    static let sound = """
        title = "a \\"b\\" \\u00e9" # comment
        'x y'.z = [ 1, 0x1F, -2.5e3, inf, true, 1979-05-27T07:32:00Z, 07:32:00 ]
        t = { a = 'b', c.d = [ { e = [] } ] }
        [nodes.voice]
        gain = 3
        band1.type = '''
        many
        lines'''
        [[list]]
        a = \"\"\"x \\
             y\"\"\"
        [[list]]
        [list.inner]
        b = 1_000

        """

    private func copies(_ count: Int, seed: UInt64) -> [[UInt8]] {
        var random = SeededRandom(seed: seed)
        return (0..<count).map { _ in random.damaged(Array(Self.sound.utf8), pieces: pieces) }
    }

    @Test func `damaged documents are parsed or rejected with a position inside them`() {
        var read = 0
        for bytes in copies(5_000, seed: 1) + (0..<Self.sound.utf8.count).map({ Array(Self.sound.utf8.prefix($0)) }) {
            do throws(TOMLError) {
                let value = try TOMLValue(parsing: bytes)
                check(value, within: bytes)
                read += 1
            } catch {
                check(error.place, within: bytes)
                #expect(!error.problem.isEmpty && !error.problem.contains("\n"))
            }
        }
        #expect(read > 250)
    }

    private func check(_ place: SourcePlace, within bytes: [UInt8]) {
        let lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
        guard lines.indices.contains(place.line - 1), (1...lines[place.line - 1].count + 1).contains(place.column)
        else {
            Issue.record("\(place) is not in \(String(decoding: bytes, as: UTF8.self))")
            return
        }
    }

    private func check(_ value: TOMLValue, within bytes: [UInt8]) {
        check(value.place, within: bytes)
        switch value.content {
        case .table(let entries):
            for entry in entries {
                check(entry.place, within: bytes)
                check(entry.value, within: bytes)
            }
            #expect(entries.map(\.place) == entries.map(\.place).sorted())
        case .array(let values): for value in values { check(value, within: bytes) }
        default: break
        }
    }

    /// Python's tomllib is an independent TOML 1.0 parser. Known differences: it accepts integers of any size, and floats beyond
    /// 64 bits as infinite; and it has no limit on depth, no byte order mark and no leap second.
    @Test(.enabled(if: Reference.isInstalled)) func `documents are accepted and rejected as by Python's tomllib`()
        throws
    {
        let texts = copies(3_000, seed: 2).filter { String(validating: $0, as: UTF8.self) != nil }
        let answers = try Reference.answers(texts)
        #expect(answers.count == texts.count)
        for (bytes, answer) in zip(texts, answers) {
            let text = String(decoding: bytes, as: UTF8.self)
            do throws(TOMLError) {
                _ = try TOMLValue(parsing: bytes)
                #expect(answer || text.unicodeScalars.first == "\u{FEFF}" || text.contains(":60"), "\(text)")
            } catch {
                #expect(!answer || error.reason == .range || error.reason == .limit, "\(error)\n\(text)")
            }
        }
    }
}

/// Python's tomllib, which exists from Python 3.11 on.
private enum Reference {
    static let isInstalled = (try? run("import tomllib", "")) != nil

    /// Returns, for each text, true if tomllib accepts it.
    static func answers(_ texts: [[UInt8]]) throws -> [Bool] {
        let program = """
            import sys, tomllib
            for line in open(sys.argv[1]):
                try: tomllib.loads(bytes.fromhex(line).decode()); print(1)
                except (ValueError, RecursionError): print(0)
            """
        let lines = texts.map { $0.map { String(UInt16($0) + 256, radix: 16).dropFirst() }.joined() + "\n" }
        return try run(program, lines.joined()).split(separator: "\n").map { $0 == "1" }
    }

    private static func run(_ program: String, _ input: String) throws -> String {
        let file = FileManager.default.temporaryDirectory.appending(path: "earshot-toml-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        try input.write(to: file, atomically: false, encoding: .utf8)
        let python = try ChildProcess.run(["/usr/bin/python3", "-c", program, file.path])
        guard python.status == 0 else { throw CancellationError() }
        return python.output
    }
}
