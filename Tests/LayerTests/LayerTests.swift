// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite struct LayerTests {
    @Test func everyImportGoesDownTheTable() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let markdown = try String(contentsOf: root.appending(path: "docs/architecture.md"), encoding: .utf8)
        let table = try LayerTable(markdown: markdown)
        let tree = try SourceTree(root: root)
        #expect(tree.imports.count >= 10 && tree.packageDependencies.count >= 10)
        #expect(LayerRules.violations(table, tree) == [])
    }
}
