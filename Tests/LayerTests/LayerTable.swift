// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The table under `## Layers` in docs/architecture.md, from the top layer to the bottom one.
struct LayerTable {
    struct Row {
        var name: String
        var mayImport: Set<String>
    }

    struct Malformed: Error, CustomStringConvertible {
        var description: String
    }

    var rows: [Row]

    /// Parses rows of `| Layer | May import | What it is |`; cell 2 is a list of modules separated by commas.
    init(markdown: String) throws {
        let lines = markdown.split(separator: "\n", omittingEmptySubsequences: false)
        guard let heading = lines.firstIndex(of: "## Layers") else {
            throw Malformed(description: "there is no heading '## Layers'")
        }
        let section = lines[(heading + 1)...].prefix { !$0.hasPrefix("## ") }
        let cells = section.filter { $0.hasPrefix("|") }.map { line in
            line.dropFirst().split(separator: "|", omittingEmptySubsequences: false).map {
                $0.trimmingCharacters(in: CharacterSet(charactersIn: " `"))
            }
        }
        guard cells.count > 2, cells[0].prefix(2) == ["Layer", "May import"] else {
            throw Malformed(description: "the table under '## Layers' does not begin with '| Layer | May import |'")
        }
        rows = try cells.dropFirst(2).map { row in
            guard row.count >= 3 else { throw Malformed(description: "a row has fewer than three cells: \(row)") }
            let modules = row[1].split(separator: ",").map {
                $0.trimmingCharacters(in: CharacterSet(charactersIn: " `"))
            }
            return Row(name: row[0], mayImport: Set(modules.filter { !$0.isEmpty }))
        }
    }
}
