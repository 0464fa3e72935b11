import Foundation

/// A page of docs/, such as `wire.md`.
public func document(_ name: String) throws -> String {
    let root = URL(filePath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
        .deletingLastPathComponent()
        .deletingLastPathComponent()
    return try String(contentsOf: root.appending(path: "docs/\(name)"), encoding: .utf8)
}
