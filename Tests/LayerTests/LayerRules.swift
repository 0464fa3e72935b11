// SPDX-License-Identifier: Apache-2.0

/// The rules of the layers. Each violation is a sentence.
enum LayerRules {
    /// Modules of the toolchain and the system. They are in the table, but in no Package.swift.
    static let systemModules: Set<String> = [
        "Dispatch", "Foundation", "FoundationEssentials", "Glibc", "Synchronization",
    ]
    /// Layers that run on the render thread, with the modules that they must not import, directly or indirectly.
    static let renderSide: Set<String> = ["AudioBase", "AudioDSP", "AudioPlugIns", "AudioCodecs", "Playout"]
    static let bannedFromRenderSide: Set<String> = ["Foundation", "FoundationEssentials", "Logging"]
    /// Libraries that a layer must not import, directly or indirectly: playout is to run in a browser, which has neither.
    static let bannedLibraries: [(layer: String, modules: Set<String>)] = [("Playout", ["COpus", "CLibAV"])]
    /// Folders under Tests/ that do not correspond to a layer.
    static let freeTestFolders: Set<String> = [
        "CommandTests", "EngineMeasures", "ExportedCard", "LayerTests", "TestSupport", "TestTraits", "UnitMeasures",
    ]

    static func violations(_ table: LayerTable, _ tree: SourceTree) -> [String] {
        upwardRows(table) + unlistedImports(table, tree) + renderSideReach(table, tree)
            + packageDisagreements(table, tree) + strayTestFolders(tree)
    }

    private static func layers(_ table: LayerTable) -> [LayerTable.Row] {
        table.rows.filter { !$0.name.hasPrefix("System/") }
    }

    private static func upwardRows(_ table: LayerTable) -> [String] {
        var above: Set<String> = []
        var violations: [String] = []
        for row in layers(table) {
            above.insert(row.name)
            for module in row.mayImport.intersection(above).sorted() {
                violations.append("the table lets \(row.name) import \(module), which is not below it")
            }
        }
        return violations
    }

    private static func unlistedImports(_ table: LayerTable, _ tree: SourceTree) -> [String] {
        tree.imports.sorted { $0.key < $1.key }.flatMap { layer, imports -> [String] in
            guard let row = layers(table).first(where: { $0.name == layer }) else {
                return ["Sources/\(layer) is not in the table"]
            }
            return imports.filter { !row.mayImport.contains($0.key) }.sorted { $0.key < $1.key }.map {
                "Sources/\($0.value) imports \($0.key), which the table does not allow \(layer)"
            }
        }
    }

    private static func renderSideReach(_ table: LayerTable, _ tree: SourceTree) -> [String] {
        renderSide.sorted().flatMap { layer in
            reach(layer, table, tree).intersection(bannedFromRenderSide).sorted().map {
                "\($0) reaches the render side through \(layer)"
            }
        }
            + bannedLibraries.flatMap { rule in
                reach(rule.layer, table, tree).intersection(rule.modules).sorted().map { "\($0) reaches \(rule.layer)" }
            }
    }

    /// Returns the modules that a layer imports, directly or indirectly.
    private static func reach(_ layer: String, _ table: LayerTable, _ tree: SourceTree) -> Set<String> {
        var reached: Set<String> = []
        var open = [layer]
        while let next = open.popLast() {
            let listed = table.rows.first { $0.name == next }?.mayImport ?? []
            let modules = listed.union(tree.imports[next]?.keys.map { $0 } ?? [])
            open += modules.subtracting(reached)
            reached.formUnion(modules)
        }
        return reached
    }

    private static func packageDisagreements(_ table: LayerTable, _ tree: SourceTree) -> [String] {
        let rows = Dictionary(layers(table).map { ($0.name, $0.mayImport) }) { first, _ in first }
        return Set(rows.keys).union(tree.packageDependencies.keys).sorted().flatMap { layer -> [String] in
            guard let listed = rows[layer] else { return ["Package.swift has \(layer), the table has not"] }
            guard let depended = tree.packageDependencies[layer] else {
                return ["the table has \(layer), Package.swift has not"]
            }
            let table = listed.subtracting(systemModules)
            return depended.subtracting(table).sorted().map { "Package.swift gives \(layer) \($0), the table does not" }
                + table.subtracting(depended).sorted().map { "the table gives \(layer) \($0), Package.swift does not" }
        }
    }

    private static func strayTestFolders(_ tree: SourceTree) -> [String] {
        let mirrors = Set(tree.imports.keys.map { "\($0)Tests" })
        return tree.testFolders.subtracting(mirrors).subtracting(freeTestFolders).sorted().map {
            "Tests/\($0) mirrors no folder under Sources/"
        }
    }
}
