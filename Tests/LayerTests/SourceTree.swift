// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport

/// The input of the rules: a repository's imports, package dependencies and test folders.
struct SourceTree {
    /// By folder under `Sources/`: each module that a file in it imports, with one such file.
    var imports: [String: [String: String]] = [:]
    /// Folders under `Tests/` that contain Swift files.
    var testFolders: Set<String> = []
    /// By target: its dependencies in Package.swift.
    var packageDependencies: [String: Set<String>] = [:]

    init() {}

    /// Reads a repository. SwiftPM itself reads Package.swift.
    init(root: URL) throws {
        let files = FileManager.default
        for file in try files.subpathsOfDirectory(atPath: root.appending(path: "Sources").path) {
            let parts = file.split(separator: "/").map(String.init)
            if file.hasSuffix(".swift"), let layer = parts.first {
                let source = try String(contentsOf: root.appending(path: "Sources/\(file)"), encoding: .utf8)
                for module in ImportScanner.modules(in: source) {
                    imports[layer, default: [:]][Self.plainName(module)] = file
                }
                imports[layer, default: [:]][layer] = nil
            }
        }
        for file in try files.subpathsOfDirectory(atPath: root.appending(path: "Tests").path)
        where file.hasSuffix(".swift") {
            if let folder = file.split(separator: "/").first { testFolders.insert(String(folder)) }
        }
        packageDependencies = try Self.packageDependencies(root: root)
    }

    /// Returns the name of a layer or a shim: its module's without the prefix.
    private static func plainName(_ module: String) -> String {
        module.replacing("Earshot", with: "", maxReplacements: 1)
    }

    private struct Manifest: Decodable {
        struct Target: Decodable {
            var name: String
            var type: String
            var path: String?
            var dependencies: [[String: [Part?]]]
        }
        /// A dependency is named by its first string; conditions and package names follow.
        enum Part: Decodable {
            case name(String)
            case other
            init(from decoder: any Decoder) throws {
                self = (try? decoder.singleValueContainer().decode(String.self)).map(Part.name) ?? .other
            }
        }
        var targets: [Target]
    }

    private static func packageDependencies(root: URL) throws -> [String: Set<String>] {
        let scratch = FileManager.default.temporaryDirectory.appending(path: "earshot-layers-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: scratch) }
        let swift = try ChildProcess.run(
            [
                "env", "-u", "EARSHOT_LAYERS", "-u", "EARSHOT_BUILD", "-u", "LD_PRELOAD", "swift",
                "package", "--package-path", root.path, "--scratch-path", scratch.path, "dump-package",
            ], seconds: 120)
        let manifest = try JSONDecoder().decode(Manifest.self, from: Data(swift.output.utf8))
        var dependencies: [String: Set<String>] = [:]
        for target in manifest.targets where ["regular", "executable"].contains(target.type) {
            let path = target.path ?? "Sources/\(target.name)"
            guard path.hasPrefix("Sources/"), !path.hasPrefix("Sources/System/") else { continue }
            let names = target.dependencies.flatMap(\.values).compactMap { parts -> String? in
                if case .name(let name)? = parts.first ?? nil { plainName(name) } else { nil }
            }
            dependencies[plainName(target.name)] = Set(names)
        }
        return dependencies
    }
}
