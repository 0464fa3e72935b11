// SPDX-License-Identifier: Apache-2.0

import Testing

/// Applies the rules to an invented repository, first correct, then with one violation each.
@Suite struct LayerRulesTests {
    private static let markdown = """
        # A made-up project
        ## Layers
        | Layer | May import | What it is |
        | --- | --- | --- |
        | `Top` | `Playout`, Foundation | above |
        | Playout | AudioBase, AudioDSP | render side |
        | AudioDSP | AudioBase | render side |
        | AudioBase | CRealtime, Synchronization | the bottom |
        | System/C* | | shims |
        ## Next
        | Layer | not this table |
        """
    private static let dependencies: [String: Set<String>] = [
        "Top": ["Playout"], "Playout": ["AudioBase", "AudioDSP"], "AudioDSP": ["AudioBase"], "AudioBase": ["CRealtime"],
    ]

    private func tree() -> SourceTree {
        var tree = SourceTree()
        tree.imports = [
            "Top": ["Playout": "Top/T.swift", "Foundation": "Top/T.swift"], "Playout": ["AudioDSP": "Playout/P.swift"],
            "AudioDSP": [:], "AudioBase": ["CRealtime": "AudioBase/B.swift"],
        ]
        tree.testFolders = ["TopTests", "AudioBaseTests", "LayerTests", "TestSupport"]
        tree.packageDependencies = Self.dependencies
        return tree
    }

    private func violations(_ markdown: String = markdown, _ change: (inout SourceTree) -> Void = { _ in }) throws
        -> [String]
    {
        var tree = tree()
        change(&tree)
        return LayerRules.violations(try LayerTable(markdown: markdown), tree)
    }

    @Test func aSoundTreeHasNoViolation() throws {
        #expect(try violations() == [])
    }

    @Test func anUpwardImportIsFound() throws {
        let found = try violations { $0.imports["AudioDSP"] = ["Playout": "AudioDSP/D.swift"] }
        #expect(found == ["Sources/AudioDSP/D.swift imports Playout, which the table does not allow AudioDSP"])
    }

    @Test(arguments: ["Playout", "AudioDSP"])
    func aRowThatNamesItselfOrALayerAboveIsFound(module: String) throws {
        let found = try violations(
            Self.markdown.replacing("| AudioDSP | AudioBase |", with: "| AudioDSP | AudioBase, \(module) |"))
        #expect(found.contains("the table lets AudioDSP import \(module), which is not below it"))
    }

    @Test(arguments: ["Foundation", "Logging"])
    func whatReachesTheRenderSideByDetourIsFound(module: String) throws {
        let found = try violations(
            Self.markdown.replacing("CRealtime, Synchronization", with: "CRealtime, \(module)")
        ) { $0.imports["AudioBase"] = [module: "AudioBase/B.swift"] }
        #expect(found.contains("\(module) reaches the render side through Playout"))
    }

    @Test(arguments: ["COpus", "CLibAV"])
    func aCodecsLibraryThatReachesPlayoutByDetourIsFound(module: String) throws {
        let found = try violations(
            Self.markdown.replacing("| AudioDSP | AudioBase |", with: "| AudioDSP | AudioBase, \(module) |")
        ) {
            $0.packageDependencies["AudioDSP"]?.insert(module)
        }
        #expect(found == ["\(module) reaches Playout"])
    }

    @Test func aPackageDependencyBesideTheTableIsFound() throws {
        let found = try violations { $0.packageDependencies["AudioBase"] = ["CRealtime", "CJACK"] }
        #expect(found == ["Package.swift gives AudioBase CJACK, the table does not"])
    }

    @Test func aRowThatThePackageDoesNotHaveIsFound() throws {
        let found = try violations { $0.packageDependencies["AudioDSP"] = [] }
        #expect(found == ["the table gives AudioDSP AudioBase, Package.swift does not"])
    }

    @Test func aFolderBesideTheTableIsFound() throws {
        let found = try violations { $0.imports["Side"] = [:] }
        #expect(found == ["Sources/Side is not in the table"])
    }

    @Test func aTestFolderThatMirrorsNothingIsFound() throws {
        let found = try violations { $0.testFolders.insert("MiscTests") }
        #expect(found == ["Tests/MiscTests mirrors no folder under Sources/"])
    }

    @Test(arguments: ["# nothing", "## Layers\n| A | B |\n| - | - |\n| x | y | z |"])
    func aMissingTableIsAnError(markdown: String) {
        #expect(throws: LayerTable.Malformed.self) { try LayerTable(markdown: markdown) }
    }

    @Test func importsAreFoundInEveryForm() {
        let source = """
            import A; import B
            @testable public import C
            @_spi(X) @preconcurrency internal import struct D.Thing
              import E.Sub  // import No1
            /* import No2 /* nested */ import No3 */ import F
            let text = #"\\"#; let other = "// \\" import No4"
            let page = \"\"\"
            import No5
            \"\"\"
            import G
            """
        #expect(ImportScanner.modules(in: source) == ["A", "B", "C", "D", "E", "F", "G"])
    }
}
