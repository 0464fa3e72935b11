// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// A library says what happened. The program says what to do, and with which command.
@Suite struct LibraryWordsTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Sources")
    /// Texts that are hashed or signed and not shown to anybody.
    private static let labels: Set = ["earshot signature 1", "earshot pin"]

    /// Returns the literals that name an option, the program's command line or a shell command, each with its line.
    static func violations(in source: String) -> [String] {
        ImportScanner.literals(source).filter { literal in
            !labels.contains(literal.text)
                && literal.text.contains(
                    #/(^|[^-\w])--[a-z]|\bearshot [a-z]|\bsudo |\bsystemctl |\bps -|\bapt(-get)? /#)
        }.map { "\($0.line): \($0.text)" }
    }

    @Test func noLibraryNamesAnOptionOrACommand() throws {
        var found: [String] = []
        var count = 0
        for file in try FileManager.default.subpathsOfDirectory(atPath: Self.root.path)
        where file.hasSuffix(".swift") && !file.hasPrefix("earshot/") {
            let source = try String(contentsOf: Self.root.appending(path: file), encoding: .utf8)
            found += Self.violations(in: source).map { "\(file):\($0)" }
            count += ImportScanner.literals(source).count
        }
        #expect(found == [])
        #expect(count > 2_000)
    }

    @Test func plantedLinesAreFound() {
        let source = #"""
            // choose another with "--device"
            let a = "use another with --device"
            let b = "\(name) is not known; `earshot peers` lists them"
            let c = "start it: sudo systemctl start avahi-daemon"
            let d = "a -- b --- c", e = "earshot signature 1", f = "--- \(a, "--x") ---"
            let g = """
                see which is stopped:
                ps -C earshot
                """
            let h = #"\"earshot host\" runs there"#
            """#
        #expect(
            Self.violations(in: source).map { $0.prefix { $0.isNumber } } == ["2", "3", "4", "5", "6", "10"])
    }
}
