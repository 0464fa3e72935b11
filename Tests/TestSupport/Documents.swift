// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Returns a page of docs/, such as `wire.md`.
public func document(_ name: String) throws -> String {
    let root = URL(filePath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
        .deletingLastPathComponent()
        .deletingLastPathComponent()
    return try String(contentsOf: root.appending(path: "docs/\(name)"), encoding: .utf8)
}

/// Returns a vector of `wire.md`: the bytes after a word at the beginning of a line, and in its continuation lines.
public func wireVector(_ name: String) throws -> [UInt8] {
    let lines = try document("wire.md").split(separator: "\n", omittingEmptySubsequences: false)
    guard let start = lines.firstIndex(where: { $0.hasPrefix("    \(name) ") }) else { throw NoVector(name: name) }
    var digits = Array((lines[start].split(separator: " ").last ?? "").utf8)
    for line in lines[(start + 1)...] {
        guard line.hasPrefix("          "), let more = line.split(separator: " ").first else { break }
        digits += more.utf8
    }
    return stride(from: 0, to: digits.count - 1, by: 2).compactMap {
        UInt8(String(decoding: digits[$0..<$0 + 2], as: UTF8.self), radix: 16)
    }
}

/// No line of `wire.md` begins with this word.
public struct NoVector: Error { let name: String }
